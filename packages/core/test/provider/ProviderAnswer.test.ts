import { Duration } from "effect"
import { assert, describe, it } from "vitest"
import { Forbidden, NotFound, RateLimited, ServerError } from "../../src/Errors.ts"
import * as ProviderAnswer from "../../src/provider/ProviderAnswer.ts"

const throttled = (retryAfter: Duration.Duration) =>
  new RateLimited({ reason: "provider", retryAfter, message: "slow down" })

const refused = new Forbidden({ reason: "provider_policy", message: "no" })

describe("the outcome that an adapter returned", () => {
  it("every outcome of the port is one", () => {
    const outcomes = [
      { _tag: "Accepted", providerMessageId: "p-1" },
      { _tag: "Accepted", providerMessageId: "p-1", isHeld: true, recipient: { phone: "+15551234567", userId: null } },
      { _tag: "Refused", error: refused },
      { _tag: "NotSent", error: throttled(Duration.seconds(1)) },
      { _tag: "NotSent", error: new ServerError({ reason: "provider_unavailable", message: "no" }) },
      { _tag: "NotSent", error: throttled(Duration.seconds(1)), lacksFiles: true },
      { _tag: "Unknown" }
    ]
    for (const outcome of outcomes) assert.strictEqual<unknown>(ProviderAnswer.outcomeOf(outcome), outcome)
  })

  it("anything else is refused with the field that is wrong", () => {
    const wrong: ReadonlyArray<readonly [unknown, string]> = [
      [undefined, "object"],
      [{ _tag: "Sent" }, "status"],
      [{ _tag: "Accepted" }, "providerMessageId"],
      [{ _tag: "Accepted", providerMessageId: "x".repeat(513) }, "providerMessageId"],
      [{ _tag: "Accepted", providerMessageId: "p-1", isHeld: 1 }, "isHeld"],
      [{ _tag: "Accepted", providerMessageId: "p-1", recipient: {} }, "recipient"],
      [{ _tag: "Refused", error: throttled(Duration.seconds(1)) }, "Forbidden"],
      [{ _tag: "Refused", error: new NotFound({ message: "no" }) }, "Forbidden"],
      [{ _tag: "NotSent", error: refused }, "RateLimited"],
      [{ _tag: "NotSent", error: throttled(Duration.infinity) }, "retryAfter"],
      [{ _tag: "NotSent", error: throttled(Duration.days(2)) }, "retryAfter"],
      [{ _tag: "NotSent", error: throttled(Duration.seconds(1)), lacksFiles: "yes" }, "lacksFiles"]
    ]
    for (const [outcome, field] of wrong) assert.throws(() => ProviderAnswer.outcomeOf(outcome), field)
  })
})
