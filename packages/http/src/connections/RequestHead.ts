/**
 * Checks that Node's parser omits in the head of a request: RFC 9112 §2.3 on versions, §3.2 on `Host`. A proxy in front
 * of the service may have read such a request differently.
 */
import { Errors } from "@wac/core"
import * as HostName from "./HostName.ts"

/** The head of a request, as `node:http` has it. */
export interface RequestHead {
  readonly httpVersion: string
  /** Names and values in turn, as received. */
  readonly rawHeaders: ReadonlyArray<string>
}

const refused = (param: string | undefined, message: string) =>
  new Errors.InvalidBody({ reason: "invalid_field", ...(param === undefined ? {} : { param }), message })

const hostsOf = (rawHeaders: ReadonlyArray<string>): ReadonlyArray<string> =>
  rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.length === 4 && /^host$/i.test(rawHeaders[i - 1]!))

/** The error for a request with an invalid head; `undefined` if the head is valid. */
export const refusal = ({ httpVersion, rawHeaders }: RequestHead): Errors.InvalidBody | undefined => {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return refused(undefined, "the HTTP version must be 1.1 or 1.0")
  const hosts = hostsOf(rawHeaders)
  if (hosts.length > 1) return refused("Host", "Host must be given once")
  const [host] = hosts
  if (host === undefined) return httpVersion === "1.0" ? undefined : refused("Host", "Host is required")
  return HostName.of(host) === undefined
    ? refused("Host", "Host must be a name or an address, optionally with a port")
    : undefined
}
