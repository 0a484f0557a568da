/**
 * The data of events (specification §6, contract §6): the `data` of each type, in combined form.
 */
import { Campaign } from "@wac/core"
import { Schema } from "effect"
import { Counts } from "../campaigns/CampaignsApi.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { Failure, Pricing } from "../messages/MessagesApi.ts"
import { Timestamp } from "../Timestamp.ts"
import { ReceivedContext, withContent } from "./ReceivedContent.ts"

/** The common fields in the examples of events about a message. */
const ofMessage = {
  message_id: ExampleValues.sent.id,
  provider_message_id: ExampleValues.sent.providerId,
  to: ExampleValues.customer,
  client_reference: ExampleValues.sent.reference
}

const pricing = { billable: true, model: "PMP", type: "regular", category: "utility" }

const text = (description: string) => Schema.String.annotate({ description })

const time = (description: string) => Timestamp.annotateKey({ description })

const message = {
  message_id: text("As in the response to the send: `msg_…`."),
  provider_message_id: Schema.NullOr(Schema.String).annotate({
    description: "The upstream provider's own identifier; `null` until the provider has given one."
  }),
  to: text("As given with the send: the recipient's number, E.164, or their user id."),
  client_reference: Schema.optionalKey(text("As given with the send, if it was.")),
  sequence: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 2_147_483_647 })).annotate({
    description: "Grows by one with each event of the message: an event with a lower number than the last is outdated."
  }),
  pricing: Schema.optionalKey(Pricing).annotateKey({
    description: "The message's price as the provider reports it, only in the event of the report that contained it."
  })
}

const progress = {
  ...message,
  corrects: Schema.optionalKey(
    Schema.Literal("failed").annotate({
      description:
        "Present if the message had been reported as failed before: that was not so. Take back what followed " +
        "from `message.failed`, such as another channel that you fell back to."
    })
  )
}

const MessageSentData = Schema.Struct({
  ...progress,
  status: Schema.Literal("sent"),
  sent_at: time("ISO 8601, UTC, as are all times.")
}).annotate({ identifier: "MessageSentData", description: "The provider accepted the message." }).pipe(
  Example.shown({ ...ofMessage, status: "sent", sequence: 1, sent_at: ExampleValues.times.delivered, pricing })
)

const MessageDeliveredData = Schema.Struct({
  ...progress,
  status: Schema.Literal("delivered"),
  delivered_at: Timestamp
}).annotate({ identifier: "MessageDeliveredData", description: "The message arrived at the recipient's phone." }).pipe(
  Example.shown({
    ...ofMessage,
    status: "delivered",
    sequence: 2,
    delivered_at: ExampleValues.times.delivered,
    pricing
  })
)

const MessageReadData = Schema.Struct({ ...progress, status: Schema.Literal("read"), read_at: Timestamp }).annotate({
  identifier: "MessageReadData",
  description: "The recipient read the message."
}).pipe(Example.shown({ ...ofMessage, status: "read", sequence: 3, read_at: ExampleValues.times.delivered }))

const MessageFailedData = Schema.Struct({
  ...message,
  status: Schema.Literal("failed"),
  failed_at: Timestamp,
  error: Failure
}).annotate({
  identifier: "MessageFailedData",
  description: "The message will not arrive, as far as is known: a later event with `corrects` says that it did."
}).pipe(Example.shown({
  ...ofMessage,
  status: "failed",
  sequence: 2,
  failed_at: ExampleValues.times.delivered,
  error: { code: "server_error", message: "the provider could not deliver the message" }
}))

const written = {
  message_id: text("The service's id of the message: `msg_…`."),
  provider_message_id: text("The provider's id of the message.")
}

const context = Schema.optionalKey(ReceivedContext)

const MessageReceivedData = withContent({
  ...written,
  from: text(
    "The customer's number, E.164, or their user id if the provider reports no number. A reply can be sent to it."
  ),
  from_user_id: Schema.optionalKey(text("The provider's id of the customer for this business, if it gives one.")),
  to: text("The workspace's number that they wrote to, E.164."),
  received_at: time("The message's own time."),
  context,
  profile: Schema.optionalKey(
    Schema.Struct({
      name: Schema.optionalKey(Schema.String),
      username: Schema.optionalKey(Schema.String),
      parent_user_id: Schema.optionalKey(Schema.String)
    }).annotate({ description: "The provider's data about the customer, unchecked." })
  ),
  late: Schema.Boolean.annotate({
    description: "Reported so long after its own time that a reply in conversation may be out of place."
  })
}).annotate({
  identifier: "MessageReceivedData",
  description:
    "A customer wrote. `type` names the further field that holds what they wrote, e.g. `data.text` of a `text`."
}).pipe(Example.shown({
  message_id: ExampleValues.received.id,
  provider_message_id: ExampleValues.received.providerId,
  from: ExampleValues.customer,
  to: ExampleValues.phoneNumber.written,
  type: "text",
  text: { body: "When does it arrive?" },
  profile: { name: "Ana" },
  received_at: ExampleValues.times.received,
  late: false
}))

const MessageEchoedData = withContent({
  ...written,
  from: text("The workspace's number that the message was sent from, E.164."),
  to: text("The customer's number, E.164, or their user id if the provider reports no number."),
  to_user_id: Schema.optionalKey(text("The provider's id of the customer for this business, if it gives one.")),
  sent_at: time("The message's own time."),
  context,
  late: Schema.Boolean.annotate({
    description: "Reported so long after its own time that a reaction may be out of place."
  })
}).annotate({
  identifier: "MessageEchoedData",
  description:
    "The business wrote to a customer on its own phone. `type` names the further field that holds what it wrote."
}).pipe(Example.shown({
  message_id: "msg_01K8ZQ7C8D9E0F1G2H3J4K5M6N",
  provider_message_id: "wamid.HBgLMTU1NTEyMzQ1NjcVAgARGBI5QjRE",
  from: ExampleValues.phoneNumber.written,
  to: ExampleValues.customer,
  type: "text",
  text: { body: "Tomorrow." },
  sent_at: ExampleValues.times.received,
  late: false
}))

const CampaignCompletedData = Schema.Struct({
  campaign_id: Schema.String,
  name: Schema.String,
  status: Schema.Literals(Campaign.endings),
  ...Counts.fields
}).annotate({
  identifier: "CampaignCompletedData",
  description: "A campaign ended: its name, and how many messages had which outcome."
}).pipe(
  Example.shown({
    campaign_id: ExampleValues.campaign,
    name: "Spring offer",
    status: "completed",
    ...Example.of(Counts),
    queued: 0,
    read: 775
  })
)

const WebhookTestData = Schema.Struct({ webhook_id: Schema.String, tested_at: Timestamp }).annotate({
  identifier: "WebhookTestData",
  description: "Someone pressed *Send test event*, or the service probes a paused webhook."
}).pipe(Example.shown({ webhook_id: ExampleValues.webhook.id, tested_at: ExampleValues.times.recorded }))

/** The `data` of each type of event. */
export const EventData = {
  "message.sent": MessageSentData,
  "message.delivered": MessageDeliveredData,
  "message.read": MessageReadData,
  "message.failed": MessageFailedData,
  "message.received": MessageReceivedData,
  "message.echoed": MessageEchoedData,
  "campaign.completed": CampaignCompletedData,
  "webhook.test": WebhookTestData
}
