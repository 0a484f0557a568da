// A receiver for AWS Lambda, behind a function URL or an HTTP API (payload 2.0): the function's handler is
// `lambda.handler`
import { receive, type WebhookEvent } from "@wac/verifier"

/** What the gateway hands over, as far as it matters here. */
interface HttpEvent {
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body?: string
  readonly isBase64Encoded: boolean
}

/**
 * Where events are kept. In place of this memory, which ends with the instance: a DynamoDB table, written with the
 * condition `attribute_not_exists(id)`. Its stream starts the function that does the work.
 */
const inbox = new Map<string, WebhookEvent>()

/** Keeps an event once. It must be kept before the answer: Lambda may freeze the instance right after. */
const store = async (event: WebhookEvent): Promise<void> => {
  if (inbox.has(event.id)) return
  inbox.set(event.id, event)
  console.log(event.type, event.id)
}

export const handler = async ({ body = "", headers, isBase64Encoded }: HttpEvent) => {
  // the bytes as they were sent: the gateway encodes what it takes for binary
  const rawBody = Buffer.from(body, isBase64Encoded ? "base64" : "utf8")
  const receipt = await receive(rawBody, headers, process.env["WEBHOOK_SECRET"])
  if (!receipt.ok) return { statusCode: 400, body: receipt.message }
  await store(receipt.event) // if it throws, Lambda answers 502, and the event comes again
  return { statusCode: 200, body: "stored" }
}
