// What an application does with wac, by what `createWac()` and `createClient()` have alike. To move it from its own
// process to a server, change the line that makes `service`:
//   const service = await createWac({ storage: postgres(url), provider: whatsapp({ … }), masterKey })
//   const service = createClient({ baseUrl: "https://wac.example.com/v1", apiKey })
import type { Messaging } from "wac"

/** Queues the reminder of an appointment for a time in ISO 8601. Returns the id by which it can be called off. */
export const remind = async (
  { messages }: Messaging,
  appointment: string,
  to: string,
  sendAt: string
): Promise<string> => {
  const { messageId } = await messages.enqueue(
    { to, type: "template", template: { name: "hello_world", language: "en_US" }, clientReference: appointment },
    { idempotencyKey: `reminder-${appointment}`, sendAt }
  )
  return messageId
}

/** Calls a reminder off; `false` if it has been sent already. */
export const callOff = async ({ messages }: Messaging, reminder: string): Promise<boolean> => {
  try {
    await messages.cancel(reminder, { timeout: 5000 })
    return true
  } catch (error) {
    // the errors of both have the same names, codes and reasons
    if (error instanceof Error && "reason" in error && error.reason === "already_sent") return false
    throw error
  }
}

/** What became of the reminders of an appointment. */
export const statuses = async ({ messages }: Messaging, clientReference: string): Promise<ReadonlyArray<string>> =>
  (await messages.list({ clientReference }).toArray()).map(({ status }) => status)
