/**
 * A provider that does not answer, breaks off, or answers what is not true.
 */
import type { Fault } from "../Fault.ts"
import type { Provider } from "../Provider.ts"

type Faults = NonNullable<NonNullable<Parameters<Provider["fault"]>[0]["random"]>["faults"]>

/** Every send meets one of these. */
const every = (name: string, about: string, faults: Faults): Fault => ({
  name,
  about,
  begin: async ({ provider }) => {
    await provider.fault({ random: { rate: 1, faults } })
    return provider.clear
  }
})

/** The faults of the provider. */
export const all: ReadonlyArray<Fault> = [
  every("provider-hangs", "The provider accepts calls and never answers", [{ kind: "hang_after" }]),
  every("provider-resets", "The provider breaks connections, before or after it accepts the call", [
    { kind: "reset_before" },
    { kind: "reset_after" },
    { kind: "cut_answer" }
  ]),
  every("provider-lies", "The provider accepts calls and answers 502, a part, or nothing", [
    { kind: "html_after", http: 502 },
    { kind: "truncated_json" },
    { kind: "empty_body" }
  ]),
  every("provider-down", "The provider refuses calls as temporarily unavailable", [{ kind: "error", code: 131016 }])
]
