/** How the webhook is, in one word. */
import type { Webhook } from "@wac/client/internal"
import { Status } from "../ui/Status.tsx"

export const WebhookHealth = ({ webhook }: { readonly webhook: Webhook }) =>
  webhook.status === "paused"
    ? <Status tone="bad" icon="pause">Paused</Status>
    : webhook.failingSince === null
    ? <Status tone="good">Healthy</Status>
    : <Status tone="warn">Failing</Status>
