// The search of the site, in place of the theme's. The theme talks to a worker that it loads from another server; this
// one runs in the page, also in one that is read from a folder. It indexes what hooks.py writes: pages with their
// sections, and for both the phrases by which people look for them (phrases.yml).
{
  // Words that say nothing about a page, unless a query has no others.
  const empty = new Set((
    "a able about across actually after again against all almost also am among an and another any anyone anything "
    + "anyway are aren't around as at away be because been before being between both but by can can't cannot could "
    + "couldn't currently did didn't do does doesn't doing don't during each either else ever every everything few for "
    + "from get gets getting got had happen happens hardly has have having he her here hers him his how however i i'm "
    + "if in instead into is isn't it it's its itself just kind know let like likely long lot made make makes making "
    + "many may maybe me might mine more most much must my myself necessary need needed needs neither no none nor not "
    + "nothing now of off often ok on once one only or other our ours out over own per perhaps please possible properly "
    + "rather really require required requires said same say says see seem seems several shall she should simply since "
    + "so some somebody somehow someone something sometimes somewhere soon still such suddenly support supports takes "
    + "tell than that the their theirs them then there these they thing things think this those though through till to "
    + "together too toward tried tries try trying under until up upon us use used uses using usually versus very via vs "
    + "want wants was wasn't way we well went were weren't what what's whatever when where whether which while who whom "
    + "whose why will with within without won't would wouldn't yes yet you your yours"
  ).split(" "));

  // Words of readers, and the words of the pages for them; both are compared by their stems.
  const synonyms = {
    access: "permission acl", aks: "kubernetes", allow: "grant", alternative: "comparison migration replacement", amazon: "aws",
    app: "application program", application: "program", assistant: "mcp", authn: "authentication", authz: "authorization",
    autocomplete: "completion", ban: "deny", block: "deny", bounce: "restart", break: "fail", bug: "defect", cert: "certificate",
    certificate: "tls", chaos: "fault", chatgpt: "mcp", claude: "mcp", cluster: "brokers", compare: "diff comparison",
    config: "configuration setting", crash: "kill", cred: "credential", credential: "password", dashboard: "inspector",
    default: "defaults", delete: "remove", destroy: "delete", difference: "differ diff", disallow: "deny",
    down: "unreachable stop", drop: "disconnect", duplicate: "twice", eks: "kubernetes", encrypt: "tls", encryption: "tls",
    env: "environment", exception: "error", export: "convert", fake: "mock", fast: "speed performance", forbid: "deny",
    freeze: "hang", gha: "github", give: "grant", gke: "kubernetes", go: "golang", golang: "go", gui: "inspector", hang: "stuck",
    helm: "kubernetes", https: "tls", javascript: "node", js: "node", jvm: "java", k8s: "kubernetes", keep: "persist",
    kotlin: "java", latency: "delay", login: "authenticate", message: "record", minikube: "kubernetes", minimal: "least fewest",
    minimum: "least fewest", missing: "lack", monitor: "metric", mtls: "certificate", newer: "new", older: "old",
    openshift: "kubernetes", outage: "kill", performance: "benchmark", podman: "docker", privilege: "permission acl",
    property: "setting", py: "python", refuse: "deny", reject: "deny", replica: "replication", restart: "persist",
    right: "permission acl", role: "permission acl", rotate: "expire", setting: "configuration", setup: "configuration install",
    slow: "delay", speed: "benchmark fast", ssl: "tls", sso: "oauthbearer token", stub: "mock", stuck: "hang", tls: "ssl",
    trouble: "troubleshooting", ts: "typescript", tx: "transaction", txn: "transaction", ui: "inspector", unauthorised: "authorized deny",
    unauthorized: "authorized deny", upgrade: "release", user: "principal", vcr: "cassette", version: "release", wait: "ready",
    workflow: "github",
  };

  // Parts of the score. `phrases` and `heading` say how much a word counts there, compared with one in the text.
  const weight = {
    phrases: 2, heading: 1.5, title: 3, section: 0.6, phrase: 1.6, synonym: 0.6, part: 0.6, typo: 0.7, prefix: 0.8,
  };
  const emptyRarity = 0.3;   // of words that say nothing, which count only in phrases
  const [pagesMax, sectionsMax, teaserWords] = [20, 5, 40];
  const saturation = 1.2;
  const longText = 0.6;   // how much of the advantage of long texts is taken back

  // Endings, and what is in their place: `denied`, `denies` and `denial` are `deny`.
  const suffixes = [
    [/'s$/, ""], [/(?:ies|ied|ying)$/, "y"], [/nial$/, "ny"], [/(s|x|z|ch|sh)es$/, "$1"], [/([^su])s$/, "$1"],
    [/(?<=\w{3})(?:ations?|at(?:es?|ors?|ing|ed))$/, ""], [/(?<=[aeiouy].*)(?<=\w{3})(?:ing|ed)$/, ""],
    [/([bdgmnprt])\1$/, "$1"], [/(?<=\w{3}[st])ions?$/, ""],
    [/(?<=\w{4})(?:ibility|ible)$/, ""], [/(?<=\w{4})(?:ity|ly|ment)$/, ""], [/(?<=\w{3})e$/, ""],
  ];
  const stems = new Map();
  const stem = (word) => {
    if (!/^[a-z']{4,}$/.test(word)) return word;
    if (!stems.has(word))
      stems.set(word, suffixes.reduce((rest, [end, by]) => rest.length < 4 ? rest : rest.replace(end, by), word));
    return stems.get(word);
  };

  const stands = new Map(Object.entries(synonyms).map(([word, others]) => [stem(word), others.split(" ").map(stem)]));

  const name = /-{0,2}\.?[\p{L}\p{N}_](?:[\p{L}\p{N}_.'’+#-]*[\p{L}\p{N}_+#])?/gu;
  const joint = /[-._]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;
  const split = new Map();
  // A word with its parts, as stems: `--ready-file`, `ready`, `file`; `TopicAuthorizationException`, `topic` ...
  const asWord = (text) => {
    if (!split.has(text)) {
      const parts = text.split(joint).filter((part) => /^..+/.test(part) && /\D/.test(part)).map((part) => part.toLowerCase());
      const word = text.toLowerCase().replace("’", "'").replace(/(?<=\w)[-._]+(?=\w)/g, "-");
      split.set(text, { word, whole: stem(word), parts: parts.length > 1 || parts[0] !== word ? parts.map(stem) : [] });
    }
    return split.get(text);
  };
  const words = (text) => [...text.matchAll(name)].map(([word]) => asWord(word));
  const terms = (text) => words(text).flatMap(({ whole, parts }) => [whole, ...parts]);
  const pieces = (text) => text.split(" ").map((piece) => ({ text: piece, terms: terms(piece) }));
  // `who can` is also `who-can`, and `test containers` `testcontainers`.
  const pairs = (list) => list.slice(1).flatMap((word, at) => ["-", ""].map((between) => {
    const both = [list[at], word];
    return { both, joined: stem(both.map((one) => one.word).join(between)) };
  }));
  const plain = (html) => html.replace(/<[^>]+>/g, " ").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'").replace(/&amp;/g, "&").replace(/\s+/g, " ").trim();
  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  const isTypo = (left, right) => {   // one letter more, less, another, or two swapped
    if (Math.abs(left.length - right.length) > 1) return false;
    let at = 0;
    while (at < left.length && left[at] === right[at]) at += 1;
    const [a, b] = [left.slice(at), right.slice(at)];
    return a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1)
      || (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2));
  };

  const raise = (values, key, value) => { if (value > (values.get(key) ?? 0)) values.set(key, value); };
  const saturated = (count, length) => count / (count + saturation * (1 - longText + longText * length));
  const sumOf = (shares) => [...shares].reduce((sum, [{ rarity }, share]) => sum + rarity * share, 0);

  class Index {
    #pages = [];
    #sections = [];
    #postings = new Map();   // term -> rows of {section, count in text, heading and phrases}
    #spread = new Map();   // term -> number of pages
    #meanLength;
    #meanSection;
    #phrases = new Map();   // term -> phrases with their section, and the sum of the rarities of their words
    #vocabulary;

    constructor(docs) {
      const byPath = new Map();
      for (const doc of docs) {
        const path = doc.location.split("#")[0];
        if (!byPath.has(path)) {
          byPath.set(path, { doc, boost: doc.boost ?? 1, length: 0 });
          this.#pages.push(byPath.get(path));
        }
        this.#add(doc, byPath.get(path));
      }
      this.#meanLength = this.#pages.reduce((sum, page) => sum + page.length, 0) / this.#pages.length;
      this.#meanSection = this.#sections.reduce((sum, { length }) => sum + length, 0) / this.#sections.length;
      for (const [term, rows] of this.#postings) this.#spread.set(term, new Set(rows.map(({ section }) => section.page)).size);
      for (const section of this.#sections) for (const phrase of section.phrases) this.#addPhrase(section, phrase);
      this.#vocabulary = [...this.#postings.keys()].sort();
    }

    #add(doc, page) {
      const heading = plain(doc.title);
      const section = { doc, page, text: plain(doc.text), phrases: [] };
      const counts = new Map();
      const count = (list, field) => {
        for (const term of list) {
          if (!counts.has(term)) counts.set(term, { section, text: 0, heading: 0, phrases: 0 });
          counts.get(term)[field] += 1;
        }
      };
      const text = terms(section.text);
      count(text, "text");
      count(terms(heading), "heading");
      for (const phrase of [heading, ...doc.phrases ?? []]) {
        section.phrases.push(words(phrase));
        if (phrase !== heading) count(new Set(terms(phrase)), "phrases");
      }
      section.length = text.length;
      page.length += text.length;
      for (const [term, row] of counts) {
        if (!this.#postings.has(term)) this.#postings.set(term, []);
        this.#postings.get(term).push(row);
      }
      this.#sections.push(section);
    }

    #rarity(term) {
      const pages = this.#spread.get(term) ?? 0.5;
      return Math.log(1 + (this.#pages.length - pages + 0.5) / (pages + 0.5));
    }

    // A name counts as its parts together, where these are more common.
    #addPhrase(section, phrase) {
      let length = 0;
      for (const { word, whole, parts } of phrase) {
        const together = parts.reduce((sum, part) => sum + this.#rarity(part), 0);
        length += empty.has(word) ? emptyRarity : Math.min(this.#rarity(whole), together || Infinity);
      }
      const row = { section, length };
      const joined = pairs(phrase).map((pair) => pair.joined).filter((term) => this.#postings.has(term));
      for (const term of new Set([...phrase.flatMap(({ whole, parts }) => [whole, ...parts]), ...joined])) {
        if (!this.#phrases.has(term)) this.#phrases.set(term, []);
        this.#phrases.get(term).push(row);
      }
    }

    // Each group is a word of the query with the terms that stand for it, and how well each does.
    #groups(query) {
      const typed = words(query);
      const isEmpty = typed.every(({ word }) => empty.has(word));
      const groups = typed.flatMap(({ word, whole, parts }, at) => {
        const isLast = at === typed.length - 1;
        if (empty.has(word) && !isEmpty) return [{ word, variants: new Map([[whole, 1]]), rarity: emptyRarity, isEmpty: true }];
        const full = parts.filter((part) => !empty.has(part));
        const known = this.#postings.has(whole) || full.length === 0;
        const inParts = full.map((part) => this.#group(part, part, known ? weight.part : 1, isLast));
        return known ? [this.#group(word, whole, 1, isLast), ...inParts] : inParts;
      });
      for (const { both, joined } of pairs(typed)) {
        if (!this.#postings.has(joined)) continue;
        const group = this.#group(joined, joined, 1, false);
        const apart = both.filter(({ word }) => !empty.has(word)).reduce((sum, { whole }) => sum + this.#rarity(whole), 0);
        groups.push({ ...group, rarity: weight.part * Math.min(group.rarity, apart || Infinity) });
      }
      return groups;
    }

    #group(word, start, share, isLast) {
      const variants = new Map([[start, 1]]);
      for (const other of stands.get(start) ?? []) raise(variants, other, weight.synonym);
      const known = this.#postings.has(start);
      const unfinished = isLast && !known;   // the reader is still typing
      if (start.length > (isLast ? 2 : 3))
        for (const term of this.#startingWith(start))
          if (!term.includes("-", start.length))
            raise(variants, term, weight.prefix * (start.length / term.length) ** (unfinished ? 1 : 2));
      if (start.length > 3 && ![...variants.keys()].some((term) => this.#postings.has(term)))
        for (const term of this.#vocabulary) if (isTypo(start, term)) raise(variants, term, weight.typo);
      const found = [...variants.keys()].filter((term) => this.#postings.has(term));
      const best = known ? start : found.sort((a, b) => variants.get(b) - variants.get(a))[0];
      return { word, variants, rarity: share * this.#rarity(best ?? start), isEmpty: false };
    }

    *#startingWith(start) {
      let [low, high] = [0, this.#vocabulary.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.#vocabulary[middle] < start) low = middle + 1; else high = middle;
      }
      for (; this.#vocabulary[low]?.startsWith(start); low += 1) yield this.#vocabulary[low];
    }

    search(query) {
      const groups = this.#groups(query);
      const full = groups.filter((group) => !group.isEmpty);
      const whole = full.reduce((sum, { rarity }) => sum + rarity, 0);
      const pages = new Map();   // page -> its score from all its text, and its sections with theirs
      for (const group of full) this.#collect(group, pages);
      const phrases = this.#likePhrases(groups);
      const items = [];
      for (const [page, { shares, sections }] of pages) {
        const ranked = [...sections].map(([section, matches]) => ({
          section, matches, score: weight.section * sumOf(matches) / whole + weight.phrase * (phrases.get(section) ?? 0),
        }));
        ranked.sort((a, b) => b.score - a.score);
        items.push({ page, ranked, score: (sumOf(shares) / whole + ranked[0].score) * page.boost });
      }
      items.sort((a, b) => b.score - a.score);
      const matching = new Set(full.flatMap(({ variants }) => [...variants.keys()]));
      return items.slice(0, pagesMax).map((item) => this.#item(item, full, matching));
    }

    // Add how much the texts of pages and sections are about the word, between 0 and 1. Another word counts less,
    // however often it occurs.
    #collect(group, pages) {
      for (const [term, value] of group.variants) {
        const onPage = new Map();
        for (const row of this.#postings.get(term) ?? []) {
          const { section } = row;
          const { page } = section;
          if (!pages.has(page)) pages.set(page, { shares: new Map(), sections: new Map() });
          const { sections } = pages.get(page);
          if (!sections.has(section)) sections.set(section, new Map());
          const heading = section.doc === page.doc ? weight.title : weight.heading;
          const count = row.text + heading * row.heading + weight.phrases * row.phrases;
          raise(sections.get(section), group, value * saturated(count, section.length / this.#meanSection));
          onPage.set(page, (onPage.get(page) ?? 0) + count);
        }
        for (const [page, count] of onPage)
          raise(pages.get(page).shares, group, value * saturated(count, page.length / this.#meanLength));
      }
    }

    // The likeness of the query and the nearest phrase of each section: the cosine of their words by rarity.
    #likePhrases(groups) {
      const common = new Map();
      for (const { rarity, variants } of groups) {
        const shares = new Map();
        for (const [term, share] of variants)
          for (const phrase of this.#phrases.get(term) ?? []) raise(shares, phrase, share);
        for (const [phrase, share] of shares) common.set(phrase, (common.get(phrase) ?? 0) + rarity * share);
      }
      const whole = groups.reduce((sum, { rarity }) => sum + rarity, 0);
      const best = new Map();
      for (const [{ section, length }, sum] of common) raise(best, section, Math.min(1, sum / Math.sqrt(whole * length)));
      return best;
    }

    #item({ page, ranked, score }, groups, matching) {
      const shown = ranked.slice(0, sectionsMax).map(({ section, matches }, at) => ({
        ...section.doc,
        title: marked(pieces(plain(section.doc.title)), matching),
        text: teaser(section.pieces ??= pieces(section.text), matching),
        score: score / (at + 1),
        terms: Object.fromEntries(groups.map((group) => [group.word, matches.has(group)])),
      }));
      if (!shown.some(({ location }) => location === page.doc.location)) shown.push({ ...page.doc, text: "", score, terms: {} });
      return shown;
    }

    complete(query) {
      const last = query.toLowerCase().split(/[\s-]+/).pop();
      if (!last) return [];
      for (const { doc } of this.#sections)
        for (const { word } of words(plain(doc.title))) if (word.startsWith(last) && word !== last) return [word];
      return [];
    }
  }

  const isMatch = ({ terms: all }, matching) => all.some((term) => matching.has(term));
  const marked = (list, matching) => list
    .map((piece) => isMatch(piece, matching) ? `<mark>${escaped(piece.text)}</mark>` : escaped(piece.text)).join(" ");
  // The part of a text with most words of the query.
  const teaser = (list, matching) => {
    const hits = list.map((piece) => isMatch(piece, matching) ? 1 : 0);
    let count = hits.slice(0, teaserWords).reduce((sum, hit) => sum + hit, 0);
    let [most, start] = [count, 0];
    for (let end = teaserWords; end < list.length; end += 1) {
      count += hits[end] - hits[end - teaserWords];
      if (count > most) [most, start] = [count, end - teaserWords + 1];
    }
    const end = start + teaserWords;
    return (start > 0 ? "… " : "") + marked(list.slice(start, end), matching) + (end < list.length ? " …" : "");
  };

  const [setup, ready, ask, result] = [0, 1, 2, 3];   // the theme's messages
  window.Worker = class extends EventTarget {
    #index;

    postMessage({ type, data }) {
      setTimeout(() => {
        if (type === setup) {
          this.#index = new Index(data.docs);
          this.#send(ready);
        } else if (type === ask) {
          this.#send(result, { items: data.trim() ? this.#index.search(data) : [], suggest: this.#index.complete(data) });
        }
      });
    }

    #send(type, data) {
      const event = new MessageEvent("message", { data: { type, data } });
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }

    terminate() {}
  };
}
