"""The questions as an engineer writes them by hand, in plain SQL for DuckDB.

They are about the same Parquet and CSV files as the jobs, and know what the benchmark's data has:
topics, ACLs of single users or all of them, hosts by address, and no alternatives.
"""

import duckdb

_INPUT = """
set TimeZone = 'UTC';
create table accesses as select *, row_number() over () as id from read_parquet('{accesses}/*');
create table acls as
select row_number() over () as id, KafkaPrincipal as principal, PatternType as pattern,
    ResourceName as name, upper(Operation) as operation, PermissionType = 'Deny' as is_deny,
    Host as host, concat_ws('|', KafkaPrincipal, PatternType, ResourceName, Operation,
        PermissionType, Host) as text
from read_csv('{acls}', header = true, all_varchar = true);
create table covered as
select * from (values
    ('READ', 'READ', true), ('WRITE', 'WRITE', true), ('DESCRIBE', 'DESCRIBE', true),
    ('READ', 'ALL', true), ('WRITE', 'ALL', true), ('DESCRIBE', 'ALL', true),
    ('DESCRIBE', 'READ', false), ('DESCRIBE', 'WRITE', false)) c(asked, granted, also_denied);
create table applying as
with names as (select distinct resource_name from accesses),
patterns as (
    select resource_name, 'LITERAL' as pattern, resource_name as name from names
    union all select resource_name, 'LITERAL', '*' from names
    union all select resource_name, 'PREFIXED', substr(resource_name, 1, n) from names,
        (select distinct length(name) as n from acls where pattern = 'PREFIXED')
        where n <= length(resource_name)),
rules as (
    select p.resource_name, a.* from patterns p
    join acls a on a.pattern = p.pattern and a.name = p.name)
select q.id, r.id as acl, r.is_deny, r.text from accesses q
join rules r on r.resource_name = q.resource_name and r.principal = q.principal
join covered c on c.asked = q.operation and c.granted = r.operation
where r.host in ('*', q.host) and (c.also_denied or not r.is_deny) and q.principal <> '{super_user}'
union all
select q.id, r.id, r.is_deny, r.text from accesses q
join rules r on r.resource_name = q.resource_name and r.principal = 'User:*'
join covered c on c.asked = q.operation and c.granted = r.operation
where r.host in ('*', q.host) and (c.also_denied or not r.is_deny)
    and q.principal <> '{super_user}';
"""

_JOBS = {
    "what-breaks": """
create table result as
with decided as (
    select q.*, q.principal = '{super_user}' or coalesce(d.allowed, false) as would_be_allowed,
        coalesce(d.rule, 'DefaultDeny') as would_be_rule
    from accesses q left join (
        select id, bool_and(not is_deny) as allowed,
            coalesce(min(text) filter (where is_deny), max(text)) as rule
        from applying group by id) d on d.id = q.id)
select allowed, principal, operation, resource_type, resource_name,
    list_sort(list(distinct host)) as hosts, list_sort(list(distinct api)) as apis,
    sum(requests) as requests, min(first_seen) as first_seen, max(last_seen) as last_seen,
    min_by(rule, first_seen) as rule, min_by(would_be_rule, first_seen) as would_be_rule,
    min_by(example, first_seen) as example
from decided where allowed <> would_be_allowed
group by allowed, principal, operation, resource_type, resource_name
order by allowed desc, requests desc, principal, operation, resource_type, resource_name;
""",
    "unused-acls": """
create table result as
with counted as (
    select id, count(*) filter (where is_deny) as denies, count(*) filter (where not is_deny)
        as allows from applying group by id),
used as (
    select p.acl, sum(q.requests) as requests, max(q.last_seen) as last_seen,
        bool_or(case when p.is_deny then c.denies = 1 and c.allows > 0
            else c.denies = 0 and c.allows = 1 end) as is_needed
    from applying p join counted c on c.id = p.id join accesses q on q.id = p.id group by p.acl),
covers as (
    select a.id, min(b.text) as shadowed_by from acls a join acls b
    on b.id <> a.id and b.principal in (a.principal, 'User:*') and b.is_deny = a.is_deny
        and b.host in (a.host, '*') and b.operation in (a.operation, 'ALL')
        and case b.pattern when 'PREFIXED' then starts_with(a.name, b.name)
            else b.name = a.name and a.pattern = 'LITERAL' end
    group by a.id),
holds as (
    select d.id, list(a.text) as holds_back from acls d join acls a
    on d.is_deny and not a.is_deny
        and (a.principal = d.principal or 'User:*' in (a.principal, d.principal))
        and (a.host = d.host or '*' in (a.host, d.host))
        and (a.operation = d.operation or 'ALL' in (a.operation, d.operation))
        and (a.name = d.name or (a.pattern = 'PREFIXED' and starts_with(d.name, a.name))
            or (d.pattern = 'PREFIXED' and starts_with(a.name, d.name)))
    group by d.id)
select a.text, coalesce(u.requests, 0) as requests, u.last_seen, c.shadowed_by, h.holds_back,
    case when u.acl is null then 'never used' when c.id is not null then 'shadowed'
        when u.is_needed then 'needed' else 'redundant' end as state
from acls a left join used u on u.acl = a.id left join covers c on c.id = a.id
left join holds h on h.id = a.id order by a.id;
""",
}


def ask(job: str, accesses: str, acls: str, super_user: str) -> dict[str, int]:
    """Return the number of rows of the answer, and of their requests."""
    with duckdb.connect() as connection:
        for text in (_INPUT, _JOBS[job]):
            connection.execute(text.format(accesses=accesses, acls=acls, super_user=super_user))
        query = "select count(*), cast(sum(requests) as bigint) from result"
        ((findings, requests),) = connection.execute(query).fetchall()
    return {"findings": findings, "requests": requests}
