//! Compare a broker with test vectors: cargo run FILE PLAINTEXT_ADDRESS SASL_ADDRESS.
//!
//! It compares three APIs whose responses begin with the throttle time and the error code.

use base64::prelude::{Engine, BASE64_STANDARD};
use serde_json::Value;
use std::io::{Read, Write};
use std::{env, fs, net::TcpStream, ops::Range, process};

/// APIs with their key, first flexible version, and the versions whose responses begin so.
const APIS: [(&str, u8, u64, Range<u64>); 3] =
    [("FindCoordinator", 10, 3, 1..4), ("InitProducerId", 22, 2, 0..6), ("DescribeAcls", 29, 2, 0..4)];
/// Kafka's words by their codes, from 2 on.
const RESOURCES: &str = "TOPIC GROUP CLUSTER TRANSACTIONAL_ID DELEGATION_TOKEN USER";
const OPERATIONS: &str = "ALL READ WRITE CREATE DELETE ALTER DESCRIBE CLUSTER_ACTION DESCRIBE_CONFIGS \
    ALTER_CONFIGS IDEMPOTENT_WRITE CREATE_TOKENS DESCRIBE_TOKENS TWO_PHASE_COMMIT";

fn send(peer: &mut TcpStream, key: u8, version: u64, tags: &[u8], body: &[u8]) -> Vec<u8> {
    let request = [&[0, key, 0, version as u8, 0, 0, 0, 7, 0, 0], tags, body].concat();
    peer.write_all(&[&(request.len() as u32).to_be_bytes(), &request[..]].concat()).unwrap();
    let mut size = [0; 4];
    peer.read_exact(&mut size).unwrap();
    let mut response = vec![0; u32::from_be_bytes(size) as usize];
    peer.read_exact(&mut response).unwrap();
    response.split_off(4 + tags.len()) // without the response's header
}

fn log_in(address: &str, user: &str) -> TcpStream {
    let mut peer = TcpStream::connect(address).unwrap();
    if user != "anonymous" {
        let message = format!("\0{user}\0{user}-secret");
        send(&mut peer, 17, 1, &[], b"\0\x05PLAIN");
        send(&mut peer, 36, 0, &[], format!("\0\0\0{}{message}", message.len() as u8 as char).as_bytes());
    }
    peer
}

fn acl(row: &Value) -> String {
    let text = |field: &str| row[field].as_str().unwrap_or("LITERAL");
    let string = |field| format!("\0{}{}", text(field).len() as u8 as char, text(field));
    let code = |field, words: &str| words.split(' ').position(|word| word == text(field)).unwrap() as u8 + 2;
    let byte = |field, words| code(field, words) as char;
    let resource = format!("{}{}", byte("resourceType", RESOURCES), string("resourceName"));
    let pattern = byte("patternType", "MATCH LITERAL PREFIXED");
    let access = [byte("operation", OPERATIONS), byte("permissionType", "DENY ALLOW")];
    format!("{resource}{pattern}{}{}{}{}", string("principal"), string("host"), access[0], access[1])
}

fn main() {
    let [file, plain, sasl] = &env::args().skip(1).collect::<Vec<_>>()[..] else { panic!("three arguments") };
    let vectors: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let (mut admin, mut counts) = (log_in(plain, "anonymous"), [0, 0]);
    for group in vectors["groups"].as_array().unwrap() {
        send(&mut admin, 31, 1, &[], b"\0\0\0\x01\x01\xff\xff\x01\xff\xff\xff\xff\x01\x01"); // delete all
        let acls: Vec<String> = group["given"]["acls"].as_array().unwrap_or(&vec![]).iter().map(acl).collect();
        send(&mut admin, 30, 1, &[], &[&(acls.len() as u32).to_be_bytes(), acls.concat().as_bytes()].concat());
        for vector in group["vectors"].as_array().unwrap() {
            let (when, then) = (&vector["when"], &vector["then"]);
            let (user, version) = (when["user"].as_str().unwrap(), when["version"].as_u64().unwrap());
            let api = APIS.iter().find(|api| when["api"] == api.0 && api.3.contains(&version));
            let (Some((_, key, flexible, _)), Value::Null, Value::Null) = (api, &when["takes"], &then["outcome"]) else { continue };
            let body = BASE64_STANDARD.decode(when["body"].as_str().unwrap()).unwrap();
            let tags = if version >= *flexible { &b"\0"[..] } else { b"" };
            let mut peer = log_in(if user == "anonymous" { plain } else { sasl }, user);
            let response = send(&mut peer, *key, version, tags, &body);
            let code = i16::from_be_bytes([response[4], response[5]]);
            let is_different = then["errorCodes"].get(0).map_or(code != 0, |expected| *expected != code);
            counts[usize::from(is_different)] += 1;
            if is_different {
                println!("{}: expected {}, got {code}", vector["id"].as_str().unwrap(), then["errorCodes"]);
            }
        }
    }
    println!("{} equal, {} different", counts[0], counts[1]);
    process::exit(i32::from(counts[1] > 0));
}
