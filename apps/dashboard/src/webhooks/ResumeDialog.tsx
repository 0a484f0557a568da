/**
 * The dialog that resumes the webhook: the choice for held events, the probe, and its result (contract §6 *Resume*).
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { Webhook } from "@wac/client/internal"
import { useState } from "react"
import { api } from "../session/Service.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Check, Choices, TextField } from "../ui/Field.tsx"
import { plural, t } from "../ui/Language.ts"
import { Loaded } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { timeZone } from "../ui/Time.tsx"
import { AttemptView } from "./AttemptView.tsx"
import { attemptWords } from "./DeliveryWords.tsx"

type Replay = "all" | "none" | "since"

/** The most pages of held events that are counted. */
const countedPages = 20

/**
 * How many held events a resume skips that delivers only events since a time; at least that many if `isAll` is false.
 */
const useSkipped = (isAsked: boolean, since: string) =>
  useQuery({
    queryKey: ["deliveries", { heldBefore: since }],
    queryFn: async ({ signal }) => {
      let count = 0
      let pages = 0
      const held = api.deliveries.list({ status: "held", until: new Date(since), limit: 100 }, { signal })
      for await (const { data, hasMore } of held.pages()) {
        count += data.length
        if (++pages === countedPages && hasMore) return { count, isAll: false }
      }
      return { count, isAll: true }
    },
    enabled: isAsked && since !== ""
  })

export const ResumeDialog = ({ onClose, webhook }: { readonly webhook: Webhook; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [replay, setReplay] = useState<Replay>("all")
  const [since, setSince] = useState("")
  const [force, setForce] = useState(false)
  const resume = useMutation({
    mutationFn: () =>
      api.webhook.resume({
        replay: replay === "since" ? { since: new Date(since).toISOString() } : replay,
        ...(force ? { force } : {})
      }),
    onSuccess: ({ status }) => {
      if (status === "active") onClose()
    },
    onSettled: () => void client.invalidateQueries()
  })
  // the failed probe of the last try; none while the next try is in progress
  const probe = resume.data?.status === "paused" ? resume.data.probe : null
  const skipped = useSkipped(replay === "since", since)
  const { heldCount } = webhook
  return (
    <Dialog
      title={t("Resume the webhook")}
      isDismissible={!resume.isPending}
      onClose={onClose}
      width="max-w-2xl"
    >
      <form
        className="space-y-5"
        onSubmit={(event) => {
          event.preventDefault()
          if (!resume.isPending) resume.mutate()
        }}
      >
        <Choices
          label={heldCount === 0
            ? t("No events are held")
            : plural(heldCount, "What to do with {count} held event", "What to do with {count} held events")}
          value={replay}
          onChange={setReplay}
          choices={[
            [
              "all",
              plural(
                heldCount,
                "Deliver all: {count} held event, oldest first, at a bounded rate",
                "Deliver all: {count} held events, oldest first, at a bounded rate"
              )
            ],
            ["since", t("Deliver those recorded since a time; skip the older ones")],
            [
              "none",
              plural(heldCount, "Deliver none: skips {count} held event", "Deliver none: skips {count} held events")
            ]
          ]}
        />
        {replay === "since"
          ? (
            <TextField
              label={t("Since")}
              hint={t("Time zone: {timeZone}", { timeZone })}
              type="datetime-local"
              step="1"
              required
              className="max-w-xs"
              value={since}
              onChange={setSince}
            />
          )
          : null}
        {replay === "since" && since !== ""
          ? (
            <Loaded query={skipped} lines={1}>
              {({ count, isAll }) => (
                <Notice tone="warn" role="status">
                  {isAll
                    ? plural(
                      count,
                      "Skips {count} held event, and delivers the others.",
                      "Skips {count} held events, and delivers the others."
                    )
                    : plural(
                      count,
                      "Skips at least {count} held event, and delivers the others.",
                      "Skips at least {count} held events, and delivers the others."
                    )}
                </Notice>
              )}
            </Loaded>
          )
          : null}
        <div>
          <Check checked={force} onChange={setForce}>
            {t("Resume without a probe")}
            <span className="block text-[13px] text-muted">
              {t(
                "Otherwise a test event is sent first, and the webhook stays paused if the receiver does not accept it."
              )}
            </span>
          </Check>
        </div>
        {probe === null ? null : (
          <div className="space-y-2">
            <Notice tone="bad" role="alert">
              {t("The probe failed, so the webhook stays paused.")} {attemptWords(probe)}
            </Notice>
            <AttemptView attempt={probe} />
          </div>
        )}
        <Failure error={resume.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button isPending={resume.isPending} onClick={onClose}>{t("Cancel")}</Button>
          <Button look="primary" type="submit" isPending={resume.isPending}>
            {resume.isPending && !force ? t("Sending the probe…") : t("Resume")}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
