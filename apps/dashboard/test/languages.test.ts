/**
 * What every page of the portal says in each of its languages.
 */
import type { WacError } from "@wac/client/internal"
import { afterEach, assert, it, vi } from "vitest"

/** The words of times and refusals as pages in a language have them. */
const wordsIn = async (language: string) => {
  vi.resetModules()
  // the client's address is below it
  vi.stubGlobal("location", { origin: "https://service.example" })
  const { hostFields } = await import("../src/shell/HostFields.ts")
  hostFields.set("language", language)
  const { applyLanguage } = await import("../src/ui/Language.ts")
  await applyLanguage()
  const client = await import("@wac/client/internal")
  const { messageOf } = await import("../src/ui/Failure.tsx")
  return {
    ...await import("../src/ui/Moment.ts"),
    refusal: (...given: ConstructorParameters<typeof WacError>) => messageOf(new client.WacError(...given))
  }
}

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
})

it("times are told in the reader’s language, with its decimal sign", async () => {
  const timesIn = async (language: string) => {
    const { durationOf, lengthOf, relativeTo } = await wordsIn(language)
    const hour = 60 * 60 * 1000
    return [
      relativeTo(3 * hour, hour),
      relativeTo(0, 49 * hour),
      relativeTo(1, 0),
      lengthOf(25 * hour),
      durationOf(0.42),
      durationOf(1520)
    ]
  }
  assert.deepStrictEqual(await timesIn("en"), [
    "2 h ago",
    "in 2 days 1 h",
    "just now",
    "1 day 1 h",
    "0.4 ms",
    "1.52 s"
  ])
  assert.deepStrictEqual(await timesIn("es"), [
    "hace 2 h",
    "en 2 días 1 h",
    "ahora mismo",
    "1 día 1 h",
    "0,4 ms",
    "1,52 s"
  ])
  assert.deepStrictEqual(await timesIn("pt"), [
    "há 2 h",
    "em 2 dias 1 h",
    "agora mesmo",
    "1 dia 1 h",
    "0,4 ms",
    "1,52 s"
  ])
})

it("a refusal is told in the reader’s language, and then in the service’s own words", async () => {
  const refusalsIn = async (language: string) => {
    const { refusal } = await wordsIn(language)
    return [
      refusal("name is too long", { code: "invalid_body", reason: "invalid_field", requestId: "req_1" }),
      refusal("this needs the role admin", { code: "forbidden", reason: "role_not_allowed" }),
      refusal("it teapots", { code: "newer" as never }),
      refusal("the call timed out", { code: "no_response", reason: "timeout" })
    ]
  }
  assert.deepStrictEqual(await refusalsIn("en"), [
    "Name is too long.",
    "This needs the role admin.",
    "It teapots.",
    "The service did not respond: the call timed out."
  ])
  assert.deepStrictEqual(await refusalsIn("es"), [
    "Un valor no es válido. (“Name is too long.”)",
    "Su rol no permite esta acción. (“This needs the role admin.”)",
    "El servicio rechazó la acción. (“It teapots.”)",
    "El servicio no respondió (“the call timed out”)."
  ])
  assert.deepStrictEqual(await refusalsIn("pt"), [
    "Um valor não é válido. (“Name is too long.”)",
    "Sua função não permite esta ação. (“This needs the role admin.”)",
    "O serviço recusou a ação. (“It teapots.”)",
    "O serviço não respondeu (“the call timed out”)."
  ])
})
