// The index has no such words, but the search takes each for the beginning of others: `in` for `inspector`.
const empty = "a an and are as at be but by can could did do does for from get had has have how i if in into is it its me "
  + "my no not of on or our should so some than that the their then there these they this to us was we were what when "
  + "where which who why will with would you your";
// A query such as `--user` means the option, and not pages without a word. Words of the query are beginnings of words
// on pages, so a plural finds the singular without its `s`. The parts of some names are left out by the search or are on
// every page, so hooks.py adds these names in one piece.
const names = [
  [/(^|\s)-+(?=\w)/g, "$1"],
  [/\bwho[- ]can\b/gi, "whoisallowed"],
  [/\bkafka-acls(\.sh)?(?=\s|$)/gi, "kafkaacls"],
  [/(^|\s)\.net\b/gi, "$1dotnet"],
];
const withoutEmptyWords = (query) =>
  query.split(/\s+/).filter((word) => !empty.split(" ").includes(word.toLowerCase())).join(" ") || query;
const asWords = (message) =>
  typeof message?.data === "string"
    ? { ...message, data: withoutEmptyWords(names.reduce((query, [name, word]) => query.replace(name, word), message.data)) }
    : message;

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
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (data, ...rest) {
    return post.call(this, asWords(data), ...rest);
  };
}
