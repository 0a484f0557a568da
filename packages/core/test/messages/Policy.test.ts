import { assert, describe, it } from "@effect/vitest"
import type { Contact } from "../../src/contacts/Contact.ts"
import type { OutboundMessage } from "../../src/messages/Message.ts"
import { type Circumstances, countsAgainstMessagingLimit, refusal, windowRefusal } from "../../src/messages/Policy.ts"
import type { SenderBlock } from "../../src/numbers/SenderBlock.ts"
import * as Capabilities from "../../src/provider/Capabilities.ts"
import type { Template } from "../../src/templates/Template.ts"
import { day } from "../checks.ts"
import { contact, id, sender, start, template, templated, text } from "../samples.ts"

/** A template with the right values, to a customer who never wrote, without any obstacle. */
const good: Circumstances = {
  now: start,
  message: templated(["7", "ready"]),
  provider: "sandbox",
  capabilities: Capabilities.all,
  sender: sender(),
  boundTo: null,
  template: template(),
  contact: undefined,
  suppressions: [],
  quota: null,
  isKnownName: false,
  quotaUsed: 0,
  messagingLimit: null,
  customersCounted: 0,
  customerCounted: false
}

const blocked: SenderBlock = {
  reason: "quality",
  scope: "all",
  basis: "report",
  since: start - 1,
  until: start + 1,
  provider: null
}

/** Text inside a window, without any obstacle. */
const goodText: Circumstances = {
  ...good,
  message: text(),
  template: undefined,
  contact: contact({ lastInboundAt: start - 1 })
}

const reason = (given: Circumstances) => refusal(given)?.reason

describe("nothing stands in the way of", () => {
  it.each<[string, Circumstances]>([
    ["a template to a customer who never wrote", good],
    ["a template inside a window from a number with a block of what is outside one", {
      ...good,
      contact: contact({ lastInboundAt: start - 1 }),
      sender: sender({ block: { ...blocked, scope: "outside_window" } })
    }],
    ["a template from a number whose block has ended", {
      ...good,
      sender: sender({ block: { ...blocked, until: start } })
    }],
    ["a template from a number that the key is bound to", { ...good, boundTo: [sender().id] }],
    ["a template inside a window", { ...good, contact: contact({ lastInboundAt: start }) }],
    ["a template outside a window", { ...good, contact: contact({ lastInboundAt: start - day }) }],
    ["a template without placeholders, values left out", {
      ...good,
      message: templated(),
      template: template({ variables: [] })
    }],
    ["a template without placeholders, an empty list", {
      ...good,
      message: templated([]),
      template: template({ variables: [] })
    }],
    ["a utility template to one who opted out", { ...good, contact: contact({ optedOut: true }) }],
    ["an authentication template to one who opted out", {
      ...good,
      template: template({ category: "authentication" }),
      contact: contact({ optedOut: true })
    }],
    ["an authentication template to a number", { ...good, template: template({ category: "authentication" }) }],
    ["a template to a user id", { ...good, message: { ...good.message, to: "US.1" } }],
    ["a marketing template", { ...good, template: template({ category: "marketing" }) }],
    ["text in the first millisecond of a window", { ...goodText, contact: contact({ lastInboundAt: start }) }],
    ["text in the last millisecond of a window", { ...goodText, contact: contact({ lastInboundAt: start - day + 1 }) }],
    ["the last message of a quota", { ...good, quota: 10, quotaUsed: 9 }],
    ["the last customer of a messaging limit", { ...good, messagingLimit: 250, customersCounted: 249 }],
    ["a customer who counts already", { ...good, messagingLimit: 250, customersCounted: 250, customerCounted: true }],
    ["a message inside a window beyond the messaging limit", {
      ...goodText,
      messagingLimit: 250,
      customersCounted: 250
    }],
    ["a template inside a window beyond the messaging limit", {
      ...good,
      contact: contact({ lastInboundAt: start }),
      messagingLimit: 0
    }]
  ])("%s", (_, given) => {
    assert.isUndefined(refusal(given))
  })
})

describe("one reason alone", () => {
  it.each<[string, Circumstances, { readonly reason: string; readonly code?: string; readonly param?: string }]>([
    ["outside a window, a number with a block of that", {
      ...good,
      sender: sender({ block: { ...blocked, scope: "outside_window" } })
    }, { reason: "sender_not_available" }],
    ["a blocked number", { ...good, sender: sender({ block: blocked }) }, { reason: "sender_not_available" }],
    [
      "a blocked number, named",
      { ...good, sender: sender({ block: blocked }), message: templated(["1", "2"], { from: "+14155550100" }) },
      { reason: "sender_not_available", param: "from" }
    ],
    ["a number whose credentials do not hold", {
      ...good,
      sender: sender({ block: { ...blocked, reason: "credentials" } })
    }, { reason: "provider_error", code: "server_error" }],
    ["no such number", { ...good, sender: undefined }, { reason: "sender_not_available" }],
    [
      "no such number, named",
      { ...good, sender: undefined, message: templated(["1", "2"], { from: "+14155550100" }) },
      {
        reason: "sender_not_available",
        param: "from"
      }
    ],
    ["a number that the key is not bound to, as the default", { ...good, boundTo: [id("pn", 9)] }, {
      reason: "sender_not_available",
      param: "from"
    }],
    ["a number that may not send", { ...good, sender: sender({ available: false }) }, {
      reason: "sender_not_available"
    }],
    ["no such template", { ...good, template: undefined }, { reason: "template_not_found", param: "template.name" }],
    ...["pending", "rejected", "paused", "disabled", "APPROVED", "in_appeal"].map((
      status
    ): [string, Circumstances, { readonly reason: string; readonly param: string }] => [
      `a template that is ${status}`,
      { ...good, template: template({ status }) },
      { reason: "template_not_approved", param: "template.name" }
    ]),
    ["a template whose header is not filled", {
      ...good,
      template: template({
        unfillable: "its header …",
        components: [{ type: "HEADER", format: "IMAGE" }, { type: "BODY", text: "Order {{1}} is {{2}}." }]
      })
    }, {
      reason: "template_params_mismatch",
      code: "invalid_body",
      param: "template.header.image"
    }],
    ["too few values", { ...good, message: templated(["7"]) }, {
      reason: "template_params_mismatch",
      code: "invalid_body",
      param: "template.bodyParams"
    }],
    ["too many values", { ...good, message: templated(["7", "8", "9"]) }, {
      reason: "template_params_mismatch",
      code: "invalid_body",
      param: "template.bodyParams"
    }],
    ["no values where some are needed", { ...good, message: templated() }, {
      reason: "template_params_mismatch",
      code: "invalid_body",
      param: "template.bodyParams"
    }],
    ["an authentication template to a user id, whatever comes after", {
      ...good,
      message: { ...good.message, to: "US.1" },
      template: template({ category: "authentication" }),
      quota: 0
    }, { reason: "phone_number_required", param: "to" }],
    ["text to one who opted out, inside a window", {
      ...goodText,
      contact: contact({ lastInboundAt: start, optedOut: true })
    }, { reason: "opted_out", param: "to" }],
    ["a marketing template to one who opted out", {
      ...good,
      template: template({ category: "marketing" }),
      contact: contact({ optedOut: true })
    }, { reason: "opted_out", param: "to" }],
    ["text to one who never wrote", { ...goodText, contact: undefined }, {
      reason: "outside_service_window",
      param: "type"
    }],
    ["text to one who wrote 24 hours ago", { ...goodText, contact: contact({ lastInboundAt: start - day }) }, {
      reason: "outside_service_window",
      param: "type"
    }],
    ["text to one who will write", { ...goodText, contact: contact({ lastInboundAt: start + 1 }) }, {
      reason: "outside_service_window",
      param: "type"
    }],
    ["a quota used up", { ...good, quota: 10, quotaUsed: 10 }, { reason: "quota_exhausted" }],
    ["a quota of nothing", { ...good, quota: 0 }, { reason: "quota_exhausted" }],
    ["a messaging limit reached", { ...good, messagingLimit: 250, customersCounted: 250 }, {
      reason: "messaging_limit_reached"
    }]
  ])("%s", (_, given, { code = "forbidden", param, reason }) => {
    const error = refusal(given)
    assert.deepStrictEqual([error?.code, error?.reason, error?.param], [code, reason, param])
  })
})

/**
 * Each reason and how to cause it, in the order of contract §3. Some of them exclude each other for templates and text.
 */
const ways: ReadonlyArray<{
  readonly reason: string
  readonly kinds: ReadonlyArray<OutboundMessage["type"]>
  readonly spoil: (given: Circumstances) => Circumstances
}> = [
  { reason: "sender_not_available", kinds: ["template", "text"], spoil: (_) => ({ ..._, sender: undefined }) },
  { reason: "template_not_found", kinds: ["template"], spoil: (_) => ({ ..._, template: undefined }) },
  {
    reason: "template_not_approved",
    kinds: ["template"],
    spoil: (_) => ({ ..._, template: _.template && { ..._.template, status: "paused" } })
  },
  {
    reason: "template_params_mismatch",
    kinds: ["template"],
    spoil: (_) => ({ ..._, template: _.template && { ..._.template, variables: ["1", "2", "3"] } })
  },
  {
    reason: "opted_out",
    kinds: ["template", "text"],
    spoil: (_) => ({
      ..._,
      template: _.template && { ..._.template, category: "marketing" } satisfies Template,
      contact: { ...(_.contact ?? contact()), optedOut: true } satisfies Contact
    })
  },
  {
    reason: "outside_service_window",
    kinds: ["text"],
    spoil: (_) => ({ ..._, contact: _.contact && { ..._.contact, lastInboundAt: start - day } })
  },
  { reason: "quota_exhausted", kinds: ["template", "text"], spoil: (_) => ({ ..._, quota: 5, quotaUsed: 5 }) },
  {
    reason: "messaging_limit_reached",
    kinds: ["template"],
    spoil: (_) => ({ ..._, messagingLimit: 250, customersCounted: 250 })
  }
]

describe("of any reasons the earliest is given", () => {
  for (const kind of ["template", "text"] as const) {
    const possible = ways.filter(({ kinds }) => kinds.includes(kind))
    const from = kind === "text" ? goodText : good

    for (const [i, earlier] of possible.entries()) {
      for (const later of possible.slice(i + 1)) {
        it(`${kind}: ${earlier.reason} comes before ${later.reason}`, () => {
          assert.strictEqual(reason(earlier.spoil(from)), earlier.reason)
          assert.strictEqual(reason(later.spoil(from)), later.reason)
          assert.strictEqual(reason(later.spoil(earlier.spoil(from))), earlier.reason)
          assert.strictEqual(reason(earlier.spoil(later.spoil(from))), earlier.reason)
        })
      }
    }

    it(`${kind}: of all reasons at once, the earliest is given`, () => {
      for (let chosen = 0; chosen < 2 ** possible.length; chosen++) {
        const spoiled = possible.filter((_, i) => (chosen & (1 << i)) !== 0)
        assert.strictEqual(
          reason(spoiled.reduce((given, { spoil }) => spoil(given), from)),
          spoiled[0]?.reason,
          spoiled.map(({ reason }) => reason).join(", ")
        )
      }
    })
  }

  it("text: the messaging limit cannot apply, since nothing is sent outside a window", () => {
    const given = { ...goodText, contact: contact({ lastInboundAt: start - day }), messagingLimit: 0 }
    assert.strictEqual(reason(given), "outside_service_window")
  })
})

describe("the second check of the window before the provider is called", () => {
  it("the window is judged again just before the provider's call", () => {
    const given = { capabilities: Capabilities.all, contact: contact({ lastInboundAt: start }), message: text() }
    assert.isUndefined(windowRefusal({ ...given, now: start + day - 1 }))
    assert.strictEqual(windowRefusal({ ...given, now: start + day })?.reason, "outside_service_window")
  })

  it("templates need no window", () => {
    assert.isUndefined(windowRefusal({ ...good, message: templated() }))
  })
})

it("only messages outside a window count against the messaging limit", () => {
  const counts = (lastInboundAt: number | null) =>
    countsAgainstMessagingLimit({ ...good, contact: contact({ lastInboundAt }) })
  assert.deepStrictEqual([null, start - day, start - day + 1, start].map(counts), [true, true, false, false])
  assert.isTrue(countsAgainstMessagingLimit(good))
})

describe("a channel that has less", () => {
  const bare = Capabilities.none

  it("free-form messages need no window where the channel has none, and nobody counts against the messaging limit", () => {
    const given: Circumstances = { ...goodText, contact: undefined, messagingLimit: 0 }
    assert.strictEqual(reason(given), "outside_service_window")
    assert.isUndefined(reason({ ...given, capabilities: bare }))
    assert.isTrue(countsAgainstMessagingLimit(given))
    assert.isFalse(countsAgainstMessagingLimit({ ...given, capabilities: bare }))
  })

  it("an opt-out, a quota and a number that is switched off hold on every channel", () => {
    const given: Circumstances = { ...goodText, capabilities: bare }
    assert.strictEqual(reason({ ...given, contact: contact({ optedOut: true }) }), "opted_out")
    assert.strictEqual(reason({ ...given, quota: 1, quotaUsed: 1 }), "quota_exhausted")
    assert.strictEqual(reason({ ...given, sender: sender({ available: false }) }), "sender_not_available")
  })
})
