/**
 * A caller of a server that runs, and its owner in a browser.
 */
import { assert } from "vitest"

/** The owner that the environment creates. */
export const owner = { email: "owner@example.com", password: "a horse in the garden" }

/** What a browser says of a request of the service's own pages. */
export const ownPage = { "sec-fetch-site": "same-origin" }

/** A response. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: ReturnType<typeof JSON.parse>
}

/** Makes a request; with `json`, a POST of it unless the method is named. */
export const call = async (url: string, init: RequestInit & { readonly json?: unknown } = {}): Promise<Answer> => {
  const { json, ...given } = init
  const response = await fetch(url, {
    redirect: "manual",
    ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
    ...given,
    headers: { ...(json === undefined ? {} : { "content-type": "application/json" }), ...given.headers }
  })
  const text = await response.text()
  const isJson = response.headers.get("content-type")?.startsWith("application/json") === true
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
}

/** A call that must succeed. */
export const did = async (...args: Parameters<typeof call>): Promise<Answer> => {
  const answer = await call(...args)
  assert.isBelow(answer.status, 300, `${args[0]}: ${answer.text}`)
  return answer
}

/** Signs the owner in, and returns the headers of their requests. */
export const signedIn = async (url: string) => {
  const { headers } = await did(`${url}/internal/session`, { headers: ownPage, json: owner })
  return { ...ownPage, cookie: headers.getSetCookie()[0]!.split(";")[0]! }
}

/** An owner, and a caller with a key of theirs. */
export const people = async (url: string) => {
  const session = await signedIn(url)
  const { body } = await did(`${url}/internal/api-keys`, {
    headers: { ...session, "idempotency-key": crypto.randomUUID() },
    json: { name: "trial" }
  })
  return { session, authorization: `Bearer ${body.apiKey}` }
}

export const hello = { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } }

/** Sends a template to `+15551234567`. */
export const send = (url: string, authorization: string) =>
  did(`${url}/v1/messages`, { headers: { authorization, "idempotency-key": crypto.randomUUID() }, json: hello })
