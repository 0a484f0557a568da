/**
 * The façade's own types may not name another of our packages, so where a program writes what it gives to the service,
 * they repeat lists of the core. The type checker proves the copies equal (`npm run check -- types`).
 */
import type { Capabilities, Message, Template } from "@wac/core"
import { expectTypeOf, it } from "vitest"
import type * as Wac from "../src/promises.ts"

it("what a provider reports is in the core's words", () => {
  expectTypeOf<Wac.StatusReport["status"]>().toEqualTypeOf<Message.Report["status"]>()
  expectTypeOf<NonNullable<Wac.ProviderTemplate["parameterFormat"]>>().toEqualTypeOf<Template.ParameterFormat>()
  expectTypeOf<Required<Wac.Capabilities>>().toEqualTypeOf<Capabilities.Capabilities>()
})
