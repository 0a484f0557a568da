/** The notice after events are delivered again: they are on their way, or held until a person resumes the webhook. */
import { Link } from "@tanstack/react-router"
import type { DeliveryStatus } from "@wac/client/internal"
import { buttonClass } from "../ui/Button.tsx"
import { t } from "../ui/Language.ts"
import { Notice } from "../ui/Notice.tsx"
import { begunWords } from "./RoundWords.ts"

export const Begun = ({ statuses }: { readonly statuses: ReadonlyArray<DeliveryStatus> }) => {
  const isHeld = statuses.includes("held")
  return (
    <Notice
      tone={isHeld ? "warn" : "good"}
      role="status"
      actions={isHeld
        ? (
          <Link to="/settings/webhook" search={{ dialog: "resume" }} className={buttonClass("secondary", true)}>
            {t("Resume…")}
          </Link>
        )
        : undefined}
    >
      {begunWords(statuses)}
    </Notice>
  )
}
