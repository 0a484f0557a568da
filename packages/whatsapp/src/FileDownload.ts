/**
 * Downloads a customer's file: asks upstream for the file's address, which is valid for minutes, and reads it only from
 * upstream's own hosts.
 */
import { type PhoneNumber, Provider } from "@wac/core"
import { Duration, Effect, Stream } from "effect"
import type * as CloudApi from "./CloudApi.ts"
import type { GraphError } from "./GraphError.ts"
import * as Payload from "./Payload.ts"

/** The hosts of Meta's files; their subdomains count too. */
const hosts = ["fbsbx.com", "whatsapp.net", "facebook.com"]

/** Whether an address is on Meta's hosts or on the API's origin. Only such a host may get the access token. */
export const isOwn = (address: string, baseUrl: string): boolean => {
  if (!URL.canParse(address)) return false
  const { hostname, origin, password, protocol, username } = new URL(address)
  if (username !== "" || password !== "") return false
  return origin === new URL(baseUrl).origin ||
    (protocol === "https:" && hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`)))
}

const askTimeout = Duration.seconds(30)
const askMaxBytes = 64 * 1024

const Found = Payload.shape({ url: Payload.text })

/** Meta's error code for a missing object, for an object without permission to read it, and for other things. */
const invalidParameter = 100

/**
 * The error if the answer reports that the file is missing. Without an error of Meta's, a 404 may be from a proxy or a
 * wrong base URL.
 */
const missing = (answer: CloudApi.Answer, error: GraphError | undefined): Provider.FileGone | undefined => {
  if (answer._tag !== "Answered" || error === undefined) return
  if (error.code === invalidParameter) return new Provider.FileGone({ mayReturn: true })
  return answer.status === 404 ? new Provider.FileGone() : undefined
}

/** An address expires after five minutes. If it has expired before the download, a new one is requested, once. */
const tries = 2

/** What a download needs of the provider: calls with the number's access, and its errors. */
export interface Asking {
  readonly call: (call: CloudApi.Call) => Effect.Effect<CloudApi.Answer>
  readonly read: (address: string) => Effect.Effect<CloudApi.Download>
  readonly errorOf: (answer: CloudApi.Answer) => GraphError | undefined
  readonly failed: (answer: CloudApi.Answer, error: GraphError | undefined) => Provider.ProviderError
  readonly baseUrl: string
}

/** Streams a file that a customer sent to a number. Fails with `FileGone` if upstream no longer has it. */
export const of = (
  { call, errorOf, failed, baseUrl, read }: Asking,
  { providerMediaId, sender }: { readonly sender: PhoneNumber.PhoneNumber; readonly providerMediaId: string }
): Stream.Stream<Uint8Array, Provider.FileGone | Provider.ProviderError> =>
  Stream.unwrap(Effect.gen(function*() {
    for (let left = tries; left > 0; left--) {
      const answer = yield* call({
        method: "GET",
        path: [providerMediaId],
        query: { phone_number_id: sender.providerNumberId },
        timeout: askTimeout,
        maxBytes: askMaxBytes
      })
      const error = errorOf(answer)
      const { url } = Found(answer._tag === "Answered" && error === undefined ? answer.json ?? null : null)
      if (url === undefined) {
        return yield* missing(answer, error) ?? failed(answer, error)
      }
      if (!isOwn(url, baseUrl)) {
        return yield* new Provider.ProviderError({
          reason: "provider_error",
          message: "the provider named an address for a file that is not its own"
        })
      }
      const download = yield* read(url)
      if (download._tag === "Begun") return download.bytes
      if (download._tag === "Lost" || (download.status !== 404 && download.status !== 410)) {
        return yield* new Provider.ProviderError({
          reason: "provider_unavailable",
          message: download._tag === "Lost"
            ? `the provider did not hand out a file (${download.why})`
            : `the provider did not hand out a file (status ${download.status})`
        })
      }
    }
    // a status alone does not reveal who responded, and the API has just named the file's address
    return yield* new Provider.FileGone({ mayReturn: true })
  }))
