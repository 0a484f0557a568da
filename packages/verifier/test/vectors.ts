import { readFileSync } from "node:fs"

interface Delivery {
  readonly name: string
  /** `null` when the bytes are no UTF-8 text. */
  readonly text: string | null
  readonly bytesBase64: string
  readonly header: string
  readonly rotationHeader: string
  readonly standardWebhookSignature: string
}

interface SignedRequest {
  readonly name: string
  readonly method: string
  readonly target: string
  readonly idempotencyKey: string | null
  readonly body: string
  readonly content: string
  readonly header: string
}

interface Vectors {
  readonly secret: string
  readonly previousSecret: string
  readonly timestamp: number
  readonly standardWebhookId: string
  readonly deliveries: ReadonlyArray<Delivery>
  readonly requests: ReadonlyArray<SignedRequest>
  readonly published: {
    readonly signature: {
      readonly secret: string
      readonly timestamp: number
      readonly body: string
      readonly header: string
    }
    readonly standardWebhook: {
      readonly secret: string
      readonly id: string
      readonly timestamp: number
      readonly body: string
      readonly signature: string
    }
  }
}

export const vectors: Vectors = JSON.parse(readFileSync(new URL("./vectors.json", import.meta.url), "utf8"))
