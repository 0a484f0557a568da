/** The webhook's health in one word: paused, healthy or failing. */
import type { Webhook } from "@wac/client/internal"
import { t } from "../ui/Language.ts"
import { Status } from "../ui/Status.tsx"

export const WebhookHealth = ({ webhook }: { readonly webhook: Webhook }) =>
  webhook.status === "paused"
    ? <Status tone="bad" icon="pause">{t("Paused")}</Status>
    : webhook.failingSince === null
    ? <Status tone="good">{t("Healthy")}</Status>
    : <Status tone="warn">{t("Failing")}</Status>
