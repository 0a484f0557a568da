/** Makes the HTTP requests of the simulated Cloud API: it follows no redirects, and its timeouts are in real time. */
import { Effect, type Scope } from "effect"
import * as Http from "node:http"
import * as Https from "node:https"

interface Agents {
  readonly http: Http.Agent
  readonly https: Https.Agent
}

/** The timeout of a request, in real milliseconds. */
const timeout = 20_000

interface Answer {
  readonly status: number
  readonly body: string
}

const request = (
  method: string,
  url: URL,
  headers: { readonly [name: string]: string | number },
  body: Uint8Array,
  agents: Agents
): Effect.Effect<Answer, string> =>
  Effect.callback<Answer, string>((resume) => {
    const secure = url.protocol === "https:"
    const options = { method, headers, signal: AbortSignal.timeout(timeout) }
    const take = (response: Http.IncomingMessage) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", (error) => resume(Effect.fail(error.message)))
      response.on(
        "end",
        () => resume(Effect.succeed({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }))
      )
    }
    const sent = secure
      ? Https.request(url, { ...options, agent: agents.https }, take)
      : Http.request(url, { ...options, agent: agents.http }, take)
    sent.on("error", (error) => resume(Effect.fail(error.message)))
    sent.end(body)
    return Effect.sync(() => sent.destroy())
  })

/**
 * A function that makes a request. It returns the whole response, or fails with a description of why there was none.
 * Its connections are kept until the scope closes.
 */
export const make: Effect.Effect<
  (
    method: string,
    url: URL,
    headers: { readonly [name: string]: string | number },
    body: Uint8Array
  ) => Effect.Effect<Answer, string>,
  never,
  Scope.Scope
> = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => ({ http: new Http.Agent({ keepAlive: true }), https: new Https.Agent({ keepAlive: true }) })),
    (agents) =>
      Effect.sync(() => {
        agents.http.destroy()
        agents.https.destroy()
      })
  ),
  (agents) => (method, url, headers, body) => request(method, url, headers, body, agents)
)
