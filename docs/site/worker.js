// The index has no such words, but the search takes each for the beginning of others: `in` for `inspector`.
const empty = "a able about across after all almost also am among an and any are as at be because been but by can cannot "
  + "could did do does either else ever every for from get got had has have how however i if in into is it its "
  + "just let like likely may me might most must my neither no nor not of off often on only or other our own "
  + "rather said say says should since so some than that the their then there these they this to too us use using "
  + "wants was we were what when where which while who whom why will with would yet you your";
// Words of every page, which matter only in a query without others.
const common = "kafka kafka-shim shim test testing tests";
// A query such as `--user` means the option, and not pages without a word. The parts of some names are left out by the
// search or are on every page, so hooks.py adds these names in one piece.
const names = [
  [/(^|\s)-+(?=\w)/g, "$1"],
  [/\bwho[- ](can|has|may)\b.*/gi, "whoisallowed"],
  [/\b(least|minimum|minimal|fewest)[- ](acls?|permissions?|privileges?|rights)\b/gi, "leastacls"],
  [/\bkafka-authorizer\.log\b/gi, "authorizer log"],
  [/\bin[- ]process\b/gi, "in_process"],
  [/\bkafka-acls(\.sh)?(?=\s|$)/gi, "kafkaacls"],
  [/(^|\s)\.net\b/gi, "$1dotnet"],
  [/\blog(ged|ging)? ?in\b/gi, "authenticate"],
];
// Words of readers, and the words of the pages for them.
const synonyms = {
  access: "permission acl", alternative: "comparison migration", assistant: "mcp", autocomplete: "completion",
  break: "fail", certificate: "tls", chatgpt: "assistant mcp", claude: "assistant mcp", compare: "diff", crash: "kill",
  credential: "password", dashboard: "inspector", deny: "denied", difference: "differ", drop: "disconnect", encrypt: "tls",
  export: "convert", fake: "mock", forbid: "denied", give: "grant", gui: "inspector", helm: "kubernetes", https: "tls", jvm: "java",
  k8s: "kubernetes", keep: "persist", keycloak: "oauthbearer token", login: "authenticate", minimal: "fewest", minimum: "fewest",
  monitor: "metric", outage: "kill", privilege: "permission acl", refuse: "denied", restart: "persist",
  right: "permission acl", role: "permission acl", simulate: "fault", slow: "delay", sso: "oauthbearer token", stub: "mock",
  travel: "clock", ui: "inspector", unauthorized: "denied", vcr: "cassette", version: "release", wait: "ready", workflow: "github",
};

// The search takes a word for the beginning of others, so a plural finds the singular without its `s`.
const stem = (word) =>
  word.length < 4 ? word : word.replace(/(?<=[^s])s$|(?<=\w{3})(?:ing|ed)$/, "").replace(/([bdgmnpt])\1$/, "$1");

const without = (query, left) => query.split(/\s+/).filter((word) => word && !left.split(" ").includes(word.toLowerCase()));

// The words of each query with their synonyms, in the order in which the worker answers.
const asked = [];
const asWords = (message) => {
  if (message.data?.config) message.data.config.fields.title.boost = 100;   // 1000: any title before any text
  if (typeof message.data !== "string") return message;
  const query = names.reduce((text, [name, word]) => text.replace(name, word), message.data);
  const rests = [empty + " " + common, empty, ""].map((left) => without(query, left));
  const groups = (rests.find((words) => words.length > 0) ?? []).map((word) => {
    const start = stem(word.toLowerCase());
    return [start, ...(synonyms[start]?.split(" ") ?? [])];
  });
  asked.push(groups);
  return { ...message, data: groups.flat().join(" ") };
};

// A page with all words of a query comes before a page with one of them in a title.
const rank = (message) => {
  const pages = message.data?.items;
  if (!pages) return;
  const groups = asked.shift();
  const score = (page) => {
    const found = page.flatMap(({ terms }) => Object.keys(terms).filter((term) => terms[term]));
    const has = (word) => found.some((term) => word.startsWith(term) || term.startsWith(word));
    const share = groups.filter((group) => group.some(has)).length / groups.length;
    return share ** 4 * Math.max(...page.map((section) => section.score));
  };
  const scores = new Map(pages.map((page) => [page, score(page)]));
  pages.sort((a, b) => scores.get(b) - scores.get(a));
};

// The search runs in a worker, which browsers do not allow a page that is read from a folder.
// There it runs in a hidden frame, with the parts of a worker that it uses.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #frame = document.body.appendChild(document.createElement("iframe"));
    #loaded;

    constructor(url) {
      super();
      this.#frame.hidden = true;
      const inside = this.#frame.contentWindow;
      inside.postMessage = (data) => this.#give(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      script.src = new URL(url, location.href);
      this.#loaded = new Promise((resolve) => { script.onload = resolve; });
      inside.document.body.append(script);
    }

    #give(event) {
      rank(event.data);
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }

    async postMessage(data) {
      await this.#loaded;
      const inside = this.#frame.contentWindow;
      inside.dispatchEvent(new inside.MessageEvent("message", { data: asWords(data) }));
    }

    terminate() {
      this.#frame.remove();
    }
  };
} else {
  window.Worker = class extends Worker {
    constructor(...parts) {
      super(...parts);
      this.addEventListener("message", (event) => rank(event.data));
    }

    postMessage(data, ...rest) {
      super.postMessage(asWords(data), ...rest);
    }
  };
}
