/**
 * The download of a customer's file: upstream is asked for its address, which lives for minutes and is only followed
 * where it is upstream's own.
 */
import { type PhoneNumber, Provider } from "@wac/core"
import { Duration, Effect, Stream } from "effect"
import type * as CloudApi from "./CloudApi.ts"
import type { GraphError } from "./GraphError.ts"
import * as Payload from "./Payload.ts"

/** The hosts, with those below them, that Meta's files are at. */
const hosts = ["fbsbx.com", "whatsapp.net", "facebook.com"]

/** Whether an address is Meta's own, or at the address of the API itself. The access token goes along. */
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

/** Graph's code for what is not there, among other things. */
const invalidParameter = 100

const isMissing = (answer: CloudApi.Answer, error: GraphError | undefined): boolean =>
  answer._tag === "Answered" && (answer.status === 404 || error?.code === invalidParameter)

/** An address dies after five minutes; one that died on the way is asked for once more. */
const tries = 2

/** The provider's settings that a download needs. */
export interface Asking {
  readonly call: (call: CloudApi.Call) => Effect.Effect<CloudApi.Answer>
  readonly read: (address: string) => Effect.Effect<CloudApi.Download>
  readonly errorOf: (answer: CloudApi.Answer) => GraphError | undefined
  readonly failed: (answer: CloudApi.Answer, error: GraphError | undefined) => Provider.ProviderError
  readonly baseUrl: string
}

/** The bytes of a file that a customer sent to a number. */
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
        return yield* isMissing(answer, error) ? new Provider.FileGone() : failed(answer, error)
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
    return yield* new Provider.FileGone()
  }))
