/**
 * A client for the server's dashboard API: signs in as the owner and sends requests over HTTP.
 */
import { Effect } from "effect"
import { Readable } from "node:stream"
import { because, type BenchFailed } from "./BenchFailed.ts"

interface Answer {
  readonly body: { readonly [field: string]: unknown }
  /** The first cookie of the response, in the form of a request header. */
  readonly cookie: string
}

export interface Dashboard {
  /** Sends a request to a path of the server. Fails unless the response is successful. */
  readonly ask: (
    method: string,
    path: string,
    body?: unknown,
    headers?: { readonly [name: string]: string }
  ) => Effect.Effect<Answer, BenchFailed>
  /** Uploads a file, piece by piece. */
  readonly upload: (path: string, type: string, pieces: Iterable<string>) => Effect.Effect<Answer, BenchFailed>
}

const email = "owner@example.com"
const password = "correct horse battery staple"

/** The environment variables with which the server creates the owner. */
export const environment = { WAC_OWNER_EMAIL: email, WAC_OWNER_PASSWORD: password }

const request = (url: string, method: string, path: string, init: RequestInit): Effect.Effect<Answer, BenchFailed> =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url + path, {
        ...init,
        method,
        headers: { "sec-fetch-site": "same-origin", ...init.headers as { readonly [name: string]: string } },
        signal
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${response.status} ${text}`)
      return {
        body: JSON.parse(text) as Answer["body"],
        cookie: response.headers.getSetCookie()[0]?.split(";")[0] ?? ""
      }
    },
    catch: because(`${method} ${path}`)
  })

/** What Node requires of a body that is a stream, and the types of browsers do not know. */
const streamed = { duplex: "half" }

const client = (url: string, own: { readonly [name: string]: string }): Dashboard => ({
  ask: (method, path, body, headers) =>
    request(url, method, path, {
      headers: { ...body === undefined ? {} : { "content-type": "application/json" }, ...own, ...headers },
      ...body === undefined ? {} : { body: JSON.stringify(body) }
    }),
  upload: (path, type, pieces) =>
    request(url, "PUT", path, {
      headers: { "content-type": type, ...own },
      body: Readable.toWeb(Readable.from(pieces, { objectMode: false })) as ReadableStream<Uint8Array>,
      ...streamed
    })
})

/** Signs in as the owner at the server with this URL. */
export const signIn = (url: string): Effect.Effect<Dashboard, BenchFailed> =>
  Effect.map(
    client(url, {}).ask("POST", "/internal/session", { email, password }),
    ({ cookie }) => client(url, { cookie })
  )
