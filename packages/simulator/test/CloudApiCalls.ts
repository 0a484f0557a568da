/** Calls of the simulated Cloud API as a client makes them, and the bodies that tests send. */
import { type CloudApi } from "@wac/simulator"
import { Effect } from "effect"

/** What comes over the wire; tests look into it by its documented shape. */
export type Json = ReturnType<typeof JSON.parse>

export interface Reply {
  readonly http: number
  readonly json: Json
  readonly headers: Headers
}

export const call = (
  api: CloudApi.CloudApi,
  path: string,
  body?: unknown,
  token: string | undefined = api.identity.accessToken
): Effect.Effect<Reply> =>
  Effect.promise(async () => {
    const response = await fetch(`${api.url}${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers: { "content-type": "application/json", ...(token === "" ? {} : { authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    return { http: response.status, json: await response.json(), headers: response.headers }
  })

export const path = (api: CloudApi.CloudApi, number = 0) => `/v25.0/${api.identity.numbers[number]!.id}/messages`

export const to = "+16505551234"

export const template = (name: string, components: ReadonlyArray<unknown> = [], rest: object = {}) => ({
  messaging_product: "whatsapp",
  to,
  type: "template",
  template: { name, language: { code: "en_US" }, components },
  ...rest
})

export const text = (value: string, name?: string) => ({
  type: "text",
  text: value,
  ...(name === undefined ? {} : { parameter_name: name })
})

export const bodyOf = (...parameters: ReadonlyArray<unknown>) => ({ type: "body", parameters })

export const plain = { messaging_product: "whatsapp", to, type: "text", text: { body: "Hello" } }
