/** The dialog that delivers many events again, with its progress. */
import { type DeliveryStatus, WacError } from "@wac/client/internal"
import { type ComponentProps, useRef } from "react"
import { isUnknown } from "../session/Once.ts"
import { api, isNotFound } from "../session/Service.ts"
import { BulkDialog, type LeftOut } from "../ui/BulkDialog.tsx"
import { plural, t } from "../ui/Language.ts"
import { Begun } from "./Begun.tsx"

type Again = Pick<
  ComponentProps<typeof BulkDialog<{ readonly id: string }>>,
  "filter" | "onClose" | "walk"
>

const ofRemoved: LeftOut = [t("belongs to a removed webhook"), t("belong to a removed webhook")]
const forgotten: LeftOut = [t("is no longer there"), t("are no longer there")]
const lost: LeftOut = [t("may or may not have begun"), t("may or may not have begun")]

/** Why a delivery can never be started again under its key, from the service's error; throws all other errors. */
const whyNot = (error: unknown): LeftOut => {
  if (isNotFound(error)) return forgotten
  if (isUnknown(error)) return lost
  if (error instanceof WacError && error.code === "invalid_body" && error.param === "id") return ofRemoved
  throw error
}

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
      beyond={(count) =>
        t("These are the first {count}. For the others, choose a shorter time, or start a replay.", { count })}
      act={({ id }, idempotencyKey) =>
        api.deliveries.retry(id, { idempotencyKey }).then(({ status }) => {
          begun.current.push(status)
          return undefined
        }, whyNot)}
      ended={() => begun.current.length === 0 ? null : <Begun statuses={begun.current} />}
    >
      {t(
        "Begins a new round of attempts for each delivery under the same event id, so a receiver that remembers ids handles each event once."
      )}
    </BulkDialog>
  )
}
