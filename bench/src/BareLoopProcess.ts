/**
 * The delivery loop without a queue: a child process that makes, signs and posts webhook requests from memory and
 * records nothing. It marks the upper limit for all contestants of `deliveries`.
 */
import * as Child from "./Child.ts"
import type { Question } from "./RecorderProcess.ts"
import * as WebhookAttempt from "./WebhookAttempt.ts"
import * as WebhookEvent from "./WebhookEvent.ts"

/** Posts all queued events. */
export interface Post {
  readonly concurrency: number
}

Child.serve<ReadonlyArray<WebhookEvent.Webhook>, Extract<Question, { readonly _tag: "Backlog" }> | Post>(
  (webhooks) => {
    const attempt = WebhookAttempt.to(webhooks)
    let queue: Array<WebhookEvent.Job> = []
    const post = async (): Promise<void> => {
      for (let job = queue.pop(); job !== undefined; job = queue.pop()) {
        const { status } = await attempt(job)
        if (status !== 200) throw new Error(`answered ${status}`)
      }
    }
    return Promise.resolve({
      ready: null,
      answer: async (question) => {
        if ("concurrency" in question) {
          await Promise.all(Array.from({ length: question.concurrency }, post))
          return null
        }
        queue = Array.from({ length: question.events }, (_, i) => {
          const to = i % webhooks.length
          return WebhookEvent.jobOf(webhooks[to]!, WebhookEvent.make(webhooks[to]!, to))
        })
        return queue.map(({ eventId }) => eventId)
      }
    })
  }
)
