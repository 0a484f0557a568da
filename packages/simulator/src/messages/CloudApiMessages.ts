/** Accepts or refuses sends to the simulated Cloud API, and reports the statuses of the accepted messages. */
import { Effect, type Schema } from "effect"
import * as Errors from "../CloudApiErrors.ts"
import type { Behaviour } from "../control/CloudApiBehaviour.ts"
import type { Dice } from "../control/CloudApiDice.ts"
import type { Settings } from "../control/CloudApiSettings.ts"
import type { Customers } from "../numbers/CloudApiCustomers.ts"
import * as Numbers from "../numbers/CloudApiNumbers.ts"
import type { Template } from "../templates/CloudApiTemplates.ts"
import type { Courier } from "../webhooks/CloudApiCourier.ts"
import * as Updates from "../webhooks/CloudApiUpdates.ts"
import type { Bill } from "./CloudApiBill.ts"
import * as Files from "./CloudApiFiles.ts"
import * as Life from "./CloudApiLife.ts"
import type { Limits } from "./CloudApiLimits.ts"
import * as Recipient from "./CloudApiRecipient.ts"
import * as SendRequest from "./CloudApiSendRequest.ts"
import * as TemplateParameters from "./CloudApiTemplateParameters.ts"

/** A message that was accepted. */
export interface Accepted {
  readonly wamid: string
  readonly reference: string | undefined
  readonly number: Numbers.BusinessNumber
  /** The customer's key, by {@link Recipient.keyOf}. */
  readonly customer: string
  readonly behaviour: Behaviour
  readonly category: string
  /** Whether the message costs nothing: replies, and utility templates while the customer's window is open. */
  readonly isFree: boolean
  readonly problem: Errors.Problem | undefined
  readonly at: number
  readonly answer: Schema.JsonObject
}

/** The state by which messages are judged. */
export interface Grounds {
  readonly account: string
  readonly settings: () => Settings
  readonly dice: Dice
  readonly customers: Customers
  readonly limits: Limits
  readonly bill: Bill
  /** The type of a file that a number has uploaded; undefined if it has no file with this id. */
  readonly typeOf: (number: string, id: string, now: number) => string | undefined
  readonly courier: Courier
  readonly templates: () => ReadonlyArray<Template>
  /** Runs an effect in the background. */
  readonly run: (effect: Effect.Effect<void>) => void
  /** Has the customer of a message reply to it. */
  readonly reply: (accepted: Accepted, text: string) => Effect.Effect<void>
}

export interface Messages {
  /**
   * Accepts or refuses a send; an accepted one counts towards the limits. `nth`: the number of this call for its
   * reference.
   */
  readonly send: (
    number: Numbers.BusinessNumber,
    body: string,
    now: number,
    nth: number
  ) => Accepted | Errors.Refusal
  /** Reports the message's statuses at their times. Completes once those due before the response are posted. */
  readonly live: (accepted: Accepted) => Effect.Effect<void>
  /** Makes the update for a status of a message, and charges the message once it has reached its customer. */
  readonly word: (accepted: Accepted, status: string, at: number, problem?: Errors.Problem) => Updates.Update
  /** The latest accepted message with this wamid or reference. */
  readonly find: (name: string) => Accepted | undefined
}

/**
 * The outcome of a message over the messaging limit. Upstream documents no code for it, so this is the code for "not
 * delivered".
 */
const overLimit: Errors.Problem = { code: 131049 }

/** How many names of messages are remembered, those of the latest messages. */
const kept = 100_000

/** How long a conversation is open, if statuses contain it. */
const conversationLasts = 24 * 3600 * 1000

/** A message id with the bytes of a real one: it contains the recipient and a unique part. */
export const wamidOf = (recipient: string, unique: string): string => {
  const name = Buffer.from(recipient, "ascii")
  const bytes = Buffer.concat([
    Buffer.from([0x1c, 0x18, name.length]),
    name,
    Buffer.from([0x15, 0x02, 0x00, 0x11, 0x18, unique.length]),
    Buffer.from(unique, "ascii"),
    Buffer.from([0x00])
  ])
  return `wamid.${bytes.toString("base64")}`
}

/** The business-scoped user id of a customer known by number; always the same for a seed. */
const userIdOf = (dice: Dice, customer: string): string => `US.${BigInt(`0x${dice.hex(15, "user", customer)}`)}`

/** How upstream names a customer. */
export const named = (settings: Settings, dice: Dice, customer: string): Updates.Named =>
  Recipient.isUserId(customer)
    ? { waId: undefined, userId: customer }
    : { waId: customer, userId: settings.userIds ? userIdOf(dice, customer) : undefined }

export const make = (grounds: Grounds): Messages => {
  const { account, bill, courier, customers, dice, limits, reply, run, settings, templates, typeOf } = grounds
  const byName = new Map<string, Accepted>()
  let accepted = 0

  /** The template of a request, or the refusal if it cannot be sent. */
  const templateFor = (request: SendRequest.SendRequest): Template | Errors.Refusal => {
    const name = String(request.content.name)
    const language = String((request.content.language as { readonly code: string }).code)
    const template = templates().find((template) => template.name === name && template.language === language)
    switch (template?.status) {
      case "APPROVED":
        return TemplateParameters.refused(template, request.content.components) ?? template
      case "PAUSED":
        return Errors.refusal({ code: 132015 })
      case "DISABLED":
        return Errors.refusal({ code: 132016 })
      default:
        return Errors.refusal({
          code: 132001,
          details: `template name (${name}) does not exist in ${language}`
        })
    }
  }

  const recipientRefusal = (
    number: Numbers.BusinessNumber,
    customer: string,
    behaviour: Behaviour,
    nth: number
  ): Errors.Refusal | undefined => {
    const { allowed } = settings()
    if (customer === Recipient.keyOf(number.display_phone_number)) return Errors.refusal({ code: 131021 })
    if (allowed !== null && !allowed.some((to) => Recipient.keyOf(to) === customer)) {
      return Errors.refusal({ code: 131030 })
    }
    return behaviour.refuse !== undefined && nth <= (behaviour.refuse.times ?? Infinity)
      ? Errors.refusal(behaviour.refuse)
      : undefined
  }

  const send: Messages["send"] = (number, body, now, nth) => {
    if (number.refuses !== null) return Errors.refusal({ code: number.refuses })
    const request = SendRequest.read(body)
    if ("http" in request) return request
    const customer = request.userId ? request.to : Recipient.keyOf(request.to)
    const who = customers.of(customer)
    const behaviour = customers.behaviourOf(customer)
    const refused = recipientRefusal(number, customer, behaviour, nth)
    if (refused !== undefined) return refused
    const template = request.type === "template" ? templateFor(request) : undefined
    if (template !== undefined && "http" in template) return template
    if (request.userId && template?.category === "AUTHENTICATION") return Errors.refusal({ code: 131062 })
    const files = Files.of(request)
    const missing = files.find(({ id }) => id !== undefined && typeOf(number.id, id, now) === undefined)
    if (missing !== undefined) {
      return Errors.badParameter(
        `Param ${missing.name}['id'] is not a valid whatsapp business account media attachment ID`
      )
    }
    const perSecond = settings().throughput ?? Numbers.perSecond(number)
    if (!limits.throughput(number.id, now, perSecond)) return Errors.refusal({ code: 130429 })
    if (settings().pairLimit && !limits.pair(number.id, who, now)) return Errors.refusal({ code: 131056 })

    // text outside the window fails only later: github.com/shridarpatil/frappe_whatsapp/issues/133
    const outside = !customers.windowOpen(number.id, who, now)
    const { window } = settings()
    const messagingLimit = Numbers.messagingLimit(number)
    const fileProblem = files.map((file) => Files.problemOf(file, (id) => typeOf(number.id, id, now)))
      .find((problem) => problem !== undefined)
    const problem = behaviour.fail !== undefined
      ? behaviour.fail
      : outside && template === undefined && window
      ? { code: 131047 }
      : template?.category === "MARKETING" && !customers.wantsMarketing(number.id, who)
      ? { code: 131050 }
      : outside && messagingLimit !== null && !limits.customers(who, now, messagingLimit)
      ? overLimit
      : fileProblem
    limits.spend(number.id, who, now, outside && problem === undefined)

    // only templates are held
    const { held: _, ...unheld } = behaviour
    const wamid = wamidOf(
      customer,
      dice.hex(18, "wamid", ...(request.reference === undefined ? ["nth", accepted] : [request.reference, nth]))
    )
    accepted++
    const message: Accepted = {
      wamid,
      reference: request.reference,
      number,
      customer,
      behaviour: template === undefined ? unheld : behaviour,
      category: template?.category.toLowerCase() ?? "service",
      isFree: template === undefined || (template.category === "UTILITY" && !outside),
      problem,
      at: now,
      answer: {
        messaging_product: "whatsapp",
        contacts: [
          request.userId ? { input: request.to, user_id: request.to } : { input: request.to, wa_id: customer }
        ],
        messages: [{
          id: wamid,
          ...(template === undefined
            ? {}
            : { message_status: behaviour.held === undefined ? "accepted" : "held_for_quality_assessment" })
        }]
      }
    }
    for (const name of byName.size >= kept ? [...byName.keys()].slice(0, kept / 2) : []) byName.delete(name)
    byName.set(wamid, message)
    if (request.reference !== undefined) byName.set(request.reference, message)
    return message
  }

  const word: Messages["word"] = (message, status, at, problem) => {
    if (status === "delivered" || status === "read") bill.reached(message)
    const { conversation, numericTimestamps, omitBillable, omitContacts } = settings()
    const name = `${message.wamid} ${status}`
    const numeric = dice.hits(numericTimestamps, "numeric", name)
    return Updates.status(account, message.number, {
      wamid: message.wamid,
      status,
      timestamp: Updates.timestamp(at, numeric),
      customer: named(settings(), dice, message.customer),
      reference: message.reference,
      category: message.category,
      isFree: message.isFree,
      billable: !dice.hits(omitBillable, "billable", name),
      problem,
      conversation: conversation
        ? {
          id: dice.hex(32, "conversation", message.customer).toLowerCase(),
          until: Updates.timestamp(message.at + conversationLasts, numeric)
        }
        : undefined,
      contacts: !dice.hits(omitContacts, "contacts", name)
    })
  }

  return {
    send,
    word,
    find: (name) => byName.get(name),
    live: (message) => {
      const steps = Life.steps(settings(), message.behaviour, dice, message.wamid, message.problem)
      const early = settings().statusBeforeResponse ? steps.slice(0, 1) : []
      for (const step of steps.slice(early.length)) {
        const at = message.at + step.after
        run(Effect.andThen(
          Effect.sleep(step.after),
          Effect.sync(() => courier.tell(word(message, step.status, at, step.problem)))
        ))
      }
      const { replies } = message.behaviour
      if (replies !== undefined) {
        run(Effect.andThen(Effect.sleep(replies.after), Effect.suspend(() => reply(message, replies.text))))
      }
      return Effect.forEach(
        early,
        (step) => courier.tellNow(word(message, step.status, message.at, step.problem)),
        { discard: true }
      )
    }
  }
}
