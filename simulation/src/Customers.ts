/**
 * The customers of a simulated world: they write, and the provider posts what they wrote until it is acknowledged.
 */
import type { History } from "@wac/checker"
import { CustomerNames, InboundMessage } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { Effect } from "effect"
import type { Fleet } from "./Fleet.ts"
import type * as Plan from "./Plan.ts"
import type { World } from "./World.ts"

const preferences: Readonly<Record<Plan.Written["says"], History.Preference | undefined>> = {
  hello: undefined,
  STOP: "opt_out",
  START: "opt_in"
}

/** How customers write. */
export const make = (world: World, fleet: Fleet) => {
  const { now } = world.timeline
  const { providerNumberId } = SandboxProvider.firstNumber

  return Effect.fnUntraced(function*({ age, from, id, says }: Plan.Written) {
    const chance = world.chance(`written ${id}`)
    const begun = now()
    const at = begun - age
    const providerMessageId = `wamid.in-${id}`
    const [name = "", other] = from
    const message = InboundMessage.ofText({
      providerNumberId,
      providerMessageId,
      customer: other === undefined ? CustomerNames.customerOf(name) : { phone: name, userId: other },
      at,
      body: says
    })
    while (!(yield* fleet.up(chance)?.receive({ _tag: "Message", message }) ?? Effect.succeed(false))) {
      yield* Effect.sleep(chance.between(500, 3000))
    }
    const ended = now()
    const preference = preferences[says]
    if (other !== undefined) world.record({ kind: "customer", process: "provider", names: from, begun, ended })
    world.record({
      kind: "received",
      process: "provider",
      provider_message_id: providerMessageId,
      from: name,
      to: providerNumberId,
      at,
      ...(preference === undefined ? {} : { preference }),
      begun,
      ended
    })
  })
}
