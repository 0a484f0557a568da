/**
 * What Node's parser lets pass in the head of a request and HTTP does not: RFC 9112 §2.3 on versions, §3.2 on `Host`.
 * Whatever stands in front of us may have read such a request as another one.
 */
import { Errors } from "@wac/core"
import * as HostName from "./HostName.ts"

/** Of a request, as `node:http` has it. */
export interface RequestHead {
  readonly httpVersion: string
  /** Names and values by turns, as they came. */
  readonly rawHeaders: ReadonlyArray<string>
}

const refused = (param: string | undefined, message: string) =>
  new Errors.InvalidBody({ reason: "invalid_field", ...(param === undefined ? {} : { param }), message })

const hostsOf = (rawHeaders: ReadonlyArray<string>): ReadonlyArray<string> =>
  rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.length === 4 && /^host$/i.test(rawHeaders[i - 1]!))

/** Why a request is not answered, whatever it asks for. */
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
