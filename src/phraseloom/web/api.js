// Where results come from: a server, or a file in which they are saved.

/** A mistake that the reader can do something about; `status` is that of the response, if any. */
export class Problem extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

export class Server {
  canSearch = true;
  token = "";

  get #headers() {
    const headers = { "Content-Type": "application/json" };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    return headers;
  }

  /** The styles that the model knows; none if the server does not say. */
  async styles() {
    try {
      const response = await fetch("/v1/models", { headers: this.#headers });
      return response.ok ? (await response.json()).styles : [];
    } catch {
      return [];
    }
  }

  async extract(request, signal) {
    const headers = this.#headers;
    const body = JSON.stringify({ ...request, trace: true });
    let response;
    try {
      response = await fetch("/v1/extract", { method: "POST", headers, body, signal });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Problem("The server does not answer. Your text and the last result are still here.");
    }
    if (response.ok) return response.json();
    if (response.status === 401) {
      throw new Problem(this.token ? "The token is not that of this server." : "This server asks for a token.", 401);
    }
    throw new Problem(await explainFailure(response), response.status);
  }
}

async function explainFailure(response) {
  let detail = "";
  try {
    detail = (await response.json()).detail;
  } catch {
    // not one of our own answers: a proxy in between, say
  }
  return `The server says: ${detail || response.statusText || response.status}.`;
}

/** One text, searched when the file was written, for every number of phrases that is offered. */
export class Saved {
  canSearch = false;

  constructor(data) {
    this.text = data.explanation.text;
    this.title = data.explanation.title;
    this.most = data.numbers.length;
    this.#data = data;
  }

  #data;

  async extract({ top }) {
    const { explanation, numbers, by_model } = this.#data;
    const { keyphrases, steps } = top === null ? by_model : numbers[top - 1];
    const ranks = new Map(keyphrases.map((phrase) => [phrase.stems.join(" "), phrase.rank]));
    return {
      ...explanation,
      keyphrases,
      steps: explanation.steps.slice(0, steps).map((step) => ({
        ...step,
        rank: ranks.get(step.chosen.stems.join(" ")) ?? null,
      })),
    };
  }
}
