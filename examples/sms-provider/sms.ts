import { defineProvider, type ProviderOutcome } from "wac"

interface Gateway {
  readonly url: string
  readonly token: string
  readonly phoneNumber: string
}

/** Only if there was no connection is it certain that nothing was sent. */
const ofFailure = (error: unknown): ProviderOutcome =>
  ["ECONNREFUSED", "ENOTFOUND"].includes((error as { readonly cause?: { readonly code?: string } }).cause?.code ?? "")
    ? {
      status: "not_sent",
      code: "server_error",
      reason: "provider_unavailable",
      message: "the gateway is unreachable"
    }
    : { status: "unknown" }

const ofResponse = async (response: Response): Promise<ProviderOutcome> => {
  if (response.status === 201) return { status: "accepted", providerMessageId: (await response.json()).id }
  if (response.status === 429) {
    return {
      status: "not_sent",
      code: "rate_limited",
      reason: "provider",
      message: "the gateway accepts no more messages at the moment",
      retryAfter: Number(response.headers.get("retry-after")) * 1000 || 1000 // if it is missing or a date
    }
  }
  if (response.status !== 422) return { status: "unknown" }
  return {
    status: "refused",
    code: "invalid_body",
    reason: "undeliverable",
    param: "to",
    message: "the recipient cannot be reached",
    provider: await response.json()
  }
}

export const sms = ({ phoneNumber, token, url }: Gateway) =>
  defineProvider({
    name: "sms",
    phoneNumber,
    capabilities: {},
    send: async ({ messageId, text, to }) => {
      try {
        const response = await fetch(`${url}/messages`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ to, text: text.body, reference: messageId }),
          signal: AbortSignal.timeout(7_500)
        })
        return await ofResponse(response)
      } catch (error) {
        return ofFailure(error)
      }
    }
  })
