/** The banner on every page while the webhook is paused, or is failing (contract §6 *Banner*). */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { buttonClass } from "../ui/Button.tsx"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { plural, rich, t } from "../ui/Language.ts"
import { Time, Until } from "../ui/Time.tsx"
import { asSentence } from "../ui/Words.ts"
import { webhookQuery } from "./Queries.ts"

const Banner = (
  { children, icon, isBad }: { readonly isBad: boolean; readonly icon: IconName; readonly children: ReactNode }
) => (
  <section
    aria-label={t("Webhook alert")}
    className={`flex flex-wrap items-center gap-x-4 gap-y-2 border-b px-4 py-2.5 sm:px-8 ${
      isBad ? "border-bad/30 bg-bad-soft text-bad" : "border-warn/30 bg-warn-soft text-warn"
    }`}
  >
    <Icon name={icon} />
    <p className="min-w-0 flex-1 basis-64 break-words">{children}</p>
    <Link to="/settings/webhook" className={buttonClass("secondary", true)}>{t("Open webhook")}</Link>
  </section>
)

export const WebhookBanner = () => {
  const { data: webhook } = useQuery(webhookQuery)
  if (webhook == null) return null
  const failure = webhook.lastFailure === null
    ? null
    : `${t("Last failure: {message}", { message: asSentence(webhook.lastFailure.message) })} `
  if (webhook.status === "paused" && webhook.pausedAt !== null) {
    return (
      <Banner isBad icon="pause">
        {rich("{state}, since {when}.", {
          state: <strong>{t("The webhook is paused")}</strong>,
          when: <Time at={webhook.pausedAt} />
        })} {failure}
        {webhook.heldCount === 0
          ? t("No event is held yet.")
          : webhook.oldestHeldAt === null
          ? plural(webhook.heldCount, "{count} event is held.", "{count} events are held.")
          : rich("{held}, the oldest from {when}.", {
            held: plural(webhook.heldCount, "{count} event is held", "{count} events are held"),
            when: <Time at={webhook.oldestHeldAt} />
          })}
      </Banner>
    )
  }
  if (webhook.failingSince === null) return null
  return (
    <Banner isBad={false} icon="warning">
      {rich("{state}, since {when}.", {
        state: <strong>{t("The webhook is failing")}</strong>,
        when: <Time at={webhook.failingSince} />
      })} {failure}
      {webhook.pausesAt === null
        ? null
        : rich("It will be paused in {time}.", { time: <Until at={webhook.pausesAt} /> })}
    </Banner>
  )
}
