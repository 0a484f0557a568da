/**
 * Implements `WebhookTransport` over HTTP/1.1 (contract §6 *Attempt*, *Receiver addresses*): one POST, no redirect, no
 * proxy, no cookie, and connections only to allowed addresses.
 */
import { Timeouts, WebhookTransport } from "@wac/core"
import { Clock, Effect, Layer } from "effect"
import * as AttemptDiagnosis from "./AttemptDiagnosis.ts"
import * as ReceiverConnections from "./ReceiverConnections.ts"
import * as ReceiverConnector from "./ReceiverConnector.ts"
import { ReceiverExchange } from "./ReceiverExchange.ts"
import type { ReceiverRules } from "./ReceiverGuardDns.ts"

/**
 * The transport under these rules, whose connections close with the layer. A response counts once it is complete or the
 * first 16 KiB of its body have arrived. If a connection that was kept open turns out to be closed, the request is sent
 * again over a new one, within the same timeout.
 */
export const layer = (
  rules: ReceiverRules,
  options: ReceiverConnections.Options = {}
): Layer.Layer<WebhookTransport.WebhookTransport> =>
  Layer.effect(
    WebhookTransport.WebhookTransport,
    Effect.gen(function*() {
      const connections = yield* ReceiverConnections.make(ReceiverConnector.make(rules), options)
      const clock = yield* Clock.Clock
      const timeouts = yield* Timeouts.make

      const post = (url: URL, request: WebhookTransport.WebhookRequest) =>
        Effect.callback<WebhookTransport.WebhookAnswer>((resume) => {
          let exchange = new ReceiverExchange(clock)
          const send = (fresh: boolean) => connections.post(url, request, exchange, { fresh, ended })
          const ended = (error: Error | null): void => {
            if (error !== null && AttemptDiagnosis.isStale(exchange, error)) {
              exchange = new ReceiverExchange(clock)
              breakOff = send(true)
              return
            }
            met()
            resume(Effect.succeed(AttemptDiagnosis.answer(exchange, error, url, clock.currentTimeMillisUnsafe())))
          }
          let breakOff = send(false)
          const met = timeouts.set(request.timeout, () => {
            breakOff()
            resume(Effect.succeed(AttemptDiagnosis.timedOut(exchange, request.timeout)))
          })
          return Effect.sync(() => {
            met()
            breakOff()
          })
        })

      return WebhookTransport.WebhookTransport.of({
        post: (request) => {
          const url = URL.parse(request.url)
          if (url === null) return Effect.succeed(AttemptDiagnosis.refused("connect", "has no URL"))
          if (url.protocol !== "https:" && !(url.protocol === "http:" && rules.allowInsecure)) {
            const why = "has a URL that is not https; only https is allowed"
            return Effect.succeed(AttemptDiagnosis.refused("blocked_address", why))
          }
          return post(url, request)
        }
      })
    })
  )
