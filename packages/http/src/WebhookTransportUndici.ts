/**
 * `WebhookTransport` over undici (contract §6 *Attempt*, *Receiver addresses*): one POST, no redirect, no proxy, no
 * cookie, and a connection only to an address that was judged.
 */
import { WebhookTransport } from "@wac/core"
import { Clock, Effect, Layer, Option } from "effect"
import * as AttemptDiagnosis from "./AttemptDiagnosis.ts"
import * as ReceiverConnections from "./ReceiverConnections.ts"
import * as ReceiverConnector from "./ReceiverConnector.ts"
import { ReceiverExchange } from "./ReceiverExchange.ts"
import type { ReceiverRules } from "./ReceiverGuardDns.ts"

/**
 * The transport under these rules, with connections that end with the layer. An answer counts once it is whole or its
 * first 16 KiB are here. Should a connection kept open turn out to be closed, the request is sent once more over a
 * fresh one, within the same time.
 */
export const layer = (
  rules: ReceiverRules,
  options: ReceiverConnections.Options = {}
): Layer.Layer<WebhookTransport.WebhookTransport> =>
  Layer.effect(
    WebhookTransport.WebhookTransport,
    Effect.gen(function*() {
      const connections = yield* ReceiverConnections.make(ReceiverConnector.make(rules), options)
      return WebhookTransport.WebhookTransport.of({
        post: Effect.fnUntraced(function*(request) {
          if (!URL.canParse(request.url)) return AttemptDiagnosis.refused("connect", "has no URL")
          const url = new URL(request.url)
          if (url.protocol !== "https:" && !(url.protocol === "http:" && rules.allowInsecure)) {
            const why = "has a URL that is not https; only https is allowed"
            return AttemptDiagnosis.refused("blocked_address", why)
          }
          const clock = yield* Clock.Clock
          let exchange = new ReceiverExchange(clock)
          const posting = Effect.flatMap(connections.post(url, request, exchange, { fresh: false }), (error) => {
            if (error === null || !AttemptDiagnosis.isStale(exchange, error)) return Effect.succeed(error)
            exchange = new ReceiverExchange(clock)
            return connections.post(url, request, exchange, { fresh: true })
          })
          const ended = yield* Effect.timeoutOption(posting, request.timeout)
          return Option.isSome(ended)
            ? AttemptDiagnosis.answer(exchange, ended.value, url, clock.currentTimeMillisUnsafe())
            : AttemptDiagnosis.timedOut(exchange, request.timeout)
        })
      })
    })
  )
