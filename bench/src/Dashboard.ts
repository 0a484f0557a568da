/**
 * A client for the server's dashboard API: signs in as the owner and sends requests over HTTP.
 */
import { Effect } from "effect"
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
}

const email = "owner@example.com"
const password = "correct horse battery staple"

/** The environment variables with which the server creates the owner. */
export const environment = { WAC_OWNER_EMAIL: email, WAC_OWNER_PASSWORD: password }

const asked = (
  url: string,
  own: { readonly [name: string]: string }
): Dashboard["ask"] =>
(method, path, body, headers) =>
  Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(url + path, {
        method,
        headers: {
          "sec-fetch-site": "same-origin",
          ...body === undefined ? {} : { "content-type": "application/json" },
          ...own,
          ...headers
        },
        ...body === undefined ? {} : { body: JSON.stringify(body) },
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

/** Signs in as the owner at the server with this URL. */
export const signIn = (url: string): Effect.Effect<Dashboard, BenchFailed> =>
  Effect.map(
    asked(url, {})("POST", "/internal/session", { email, password }),
    ({ cookie }) => ({ ask: asked(url, { cookie }) })
  )
