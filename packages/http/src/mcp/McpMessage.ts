/**
 * Messages of the Model Context Protocol: JSON-RPC 2.0, one message a request. The server keeps no session: every
 * request has its key, so any process can answer any of them. Pure.
 */
import { Predicate } from "effect"

/** The versions of the protocol that the server speaks, newest first: those with Streamable HTTP. */
export const versions: ReadonlyArray<string> = ["2025-11-25", "2025-06-18", "2025-03-26"]

/** The version that a client gets that asks for `asked`: the same if the server speaks it, else the newest. */
export const versionFor = (asked: unknown): string => versions.find((version) => version === asked) ?? versions[0]!

type Id = string | number

/** The parameters of a request. */
export interface Params {
  readonly [name: string]: unknown
}

/** A message of a client. */
export type Incoming =
  | { readonly _tag: "Request"; readonly id: Id; readonly method: string; readonly params: Params }
  /** A notification, or a response to a request that this server never makes: nothing is answered. */
  | { readonly _tag: "Silent" }
  | { readonly _tag: "Invalid"; readonly id: Id | null; readonly message: string }

/** Whether a part of a message is an object. */
export const isObject = (value: unknown): value is Params => Predicate.isObject(value) && !Array.isArray(value)

const isId = (id: unknown): id is Id => typeof id === "string" || (typeof id === "number" && Number.isFinite(id))

/** Reads a client's message from JSON. `version` is the one in the request's header, if it has one. */
export const read = (json: unknown, version?: string): Incoming => {
  if (version !== undefined && !versions.includes(version)) {
    return { _tag: "Invalid", id: null, message: `MCP-Protocol-Version must be one of ${versions.join(", ")}` }
  }
  if (Array.isArray(json)) return { _tag: "Invalid", id: null, message: "send one message in each request" }
  if (!isObject(json) || json["jsonrpc"] !== "2.0") {
    return { _tag: "Invalid", id: null, message: "the body must be a JSON-RPC 2.0 message" }
  }
  const { id, method, params = {} } = json
  if (method === undefined && (json["result"] !== undefined || json["error"] !== undefined)) return { _tag: "Silent" }
  if (typeof method !== "string") {
    return { _tag: "Invalid", id: isId(id) ? id : null, message: "method must be text" }
  }
  if (id === undefined) return { _tag: "Silent" }
  if (!isId(id)) return { _tag: "Invalid", id: null, message: "id must be text or a number" }
  return isObject(params)
    ? { _tag: "Request", id, method, params }
    : { _tag: "Invalid", id, message: "params must be an object" }
}

/** The codes of JSON-RPC. */
export const codes = { invalidRequest: -32600, methodNotFound: -32601, invalidParams: -32602 } as const

/** A response with a result. */
export const answer = (id: Id, result: object) => ({ jsonrpc: "2.0", id, result })

/** A response with an error of the protocol. */
export const refusal = (id: Id | null, code: number, message: string) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message }
})
