/** Delivering many deliveries again, with its progress. */
import type { DeliveryStatus } from "@wac/client/internal"
import { type ComponentProps, useRef } from "react"
import { api } from "../session/Service.ts"
import { BulkDialog } from "../ui/BulkDialog.tsx"
import { plural, t } from "../ui/Language.ts"
import { Begun } from "./Begun.tsx"

type Again = Pick<
  ComponentProps<typeof BulkDialog<{ readonly id: string }>>,
  "filter" | "onClose" | "onDone" | "walk"
>

export const DeliverAgain = (props: Again) => {
  const begun = useRef<Array<DeliveryStatus>>([])
  return (
    <BulkDialog
      {...props}
      title={(count) =>
        count === undefined
          ? t("Deliver events again?")
          : plural(count, "Deliver {count} event again?", "Deliver {count} events again?")}
      noun={t("event")}
      action={t("Deliver again")}
      look="primary"
      done={t("begun")}
      fits={() => true}
      act={async ({ id }, idempotencyKey) => {
        const { status } = await api.deliveries.retry(id, { idempotencyKey })
        begun.current.push(status)
        return undefined
      }}
      ended={() => <Begun statuses={begun.current} />}
    >
      {t(
        "Begins a new round of attempts for each delivery under the same event id, so a receiver that remembers ids handles each event once."
      )}
    </BulkDialog>
  )
}
