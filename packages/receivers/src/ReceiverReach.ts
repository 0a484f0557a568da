/**
 * Checks whether a receiver can be reached, without sending a request.
 */
import { Clock, type Duration, Effect } from "effect"
import * as AttemptDiagnosis from "./AttemptDiagnosis.ts"
import * as ReceiverConnector from "./ReceiverConnector.ts"
import { ReceiverExchange } from "./ReceiverExchange.ts"
import type { ReceiverRules } from "./ReceiverGuardDns.ts"

/**
 * Connects as an attempt does, by the same rules: DNS lookup, connection, and TLS with its certificate. Returns a
 * sentence about what failed; `undefined` if the connection was made.
 */
export const failure = (
  rules: ReceiverRules,
  url: URL,
  timeout: Duration.Duration
): Effect.Effect<string | undefined> =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const exchange = new ReceiverExchange(clock)
    return Effect.callback<string | undefined>((resume) => {
      // this callback may be called before the connector returns
      const trying = ReceiverConnector.make(rules)(url, (...[error, socket]) => {
        socket?.destroy()
        resume(Effect.succeed(
          error === null
            ? undefined
            : AttemptDiagnosis.answer(exchange, error, url, clock.currentTimeMillisUnsafe()).message
        ))
      }, exchange)
      return Effect.sync(() => trying?.destroy())
    }).pipe(Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => Effect.succeed(AttemptDiagnosis.timedOut(exchange, timeout).message)
    }))
  })
