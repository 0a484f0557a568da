/**
 * Tracing spans for hot paths, which must cost nothing if no spans are collected.
 */
import { Context, Effect, Tracer } from "effect"

/** Wraps an effect in a span of this name if a tracer is present. Checks for the tracer now, not at each use. */
export const ifTraced = (name: string) =>
  Effect.contextWith((context: Context.Context<never>) => {
    // a stack trace for each call would cost more than it is worth
    const withSpan = Effect.withSpan(name, {}, { captureStackTrace: false })
    const isTraced = Context.getOrUndefined(context, Tracer.Tracer) !== undefined
    return Effect.succeed(<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      isTraced ? withSpan(effect) : effect
    )
  })
