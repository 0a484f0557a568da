// What an application does with wac: it offers its customers something each week, and answers those who write.
import { type Wac, WacError } from "wac"

/**
 * Offers a customer something, once a week, however often it runs. A key keeps runs of the same day from sending
 * twice; after that it is forgotten, and the message is found by its reference. A message that the provider did not
 * accept is `sending`, and `failed` as `not_sent` 24 hours later: only these may be sent again, under the same key. The
 * newest message of the reference decides, the first of the list: an older one stays `not_sent`.
 */
export const offer = async ({ messages }: Wac, to: string, week: string): Promise<"offered" | "opted out"> => {
  const idempotencyKey = `offer-${week}-${to}`
  const [earlier] = await messages.list({ clientReference: idempotencyKey }).toArray(1)
  const isUnsent = earlier === undefined || earlier.status === "sending" || earlier.error?.reason === "not_sent"
  if (!isUnsent) return "offered"
  try {
    await messages.send(
      {
        to,
        type: "template",
        template: { name: "promo", language: "en_US", bodyParams: ["20%"] },
        clientReference: idempotencyKey
      },
      { idempotencyKey }
    )
    return "offered"
  } catch (error) {
    if (error instanceof WacError && error.reason === "opted_out") return "opted out"
    throw error
  }
}

/** Answers customers who write, at most once a day; gives what ends that. */
export const answer = ({ messages, on }: Wac): () => void =>
  on("message.received", async ({ data: { from, received_at } }) => {
    if (from === null) return
    const idempotencyKey = `answer-${from}-${received_at.slice(0, 10)}`
    await messages.send({ to: from, type: "text", text: { body: "Thank you! We will call you." } }, { idempotencyKey })
  })
