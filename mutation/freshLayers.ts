/**
 * Stands in for `@effect/vitest` in the tests that judge mutants: a layer is built for each run of a test instead of
 * once for a block. So a test can run again and again, and what a mutant leaves in a storage ends with its run.
 */
import { describe, it, type Vitest } from "@effect/vitest"
import { Effect, type Layer } from "effect"

export * from "@effect/vitest"

/** As `layer` of `@effect/vitest` with `excludeTestServices`, which is how the suites of ports use it. */
export const layer =
  <R, E>(services: Layer.Layer<R, E>, _: { readonly excludeTestServices: true }) =>
  (name: string, tests: (it: Vitest.MethodsNonLive<R>) => void): void => {
    const provided = <A, E2>(effect: Effect.Effect<A, E2, R>) => Effect.provide(effect, services, { local: true })
    const live = it.live as Vitest.Tester<never>
    const effect = (test: string, self: (ctx: never) => Effect.Effect<unknown, unknown, R>, timeout?: number) =>
      live(test, (ctx) => provided(self(ctx as never)), timeout)
    const each =
      <A>(cases: ReadonlyArray<A>) =>
      (test: string, self: (args: A, ctx: never) => Effect.Effect<unknown, unknown, R>, timeout?: number) =>
        live.each([...cases])(test, (args, ctx) => provided(self(args, ctx as never)), timeout)
    const methods = new Proxy(it, {
      get: (target, property, receiver) =>
        property === "effect" ? Object.assign(effect, { each }) : Reflect.get(target, property, receiver)
    })
    describe(name, () => {
      tests(methods as never)
    })
  }
