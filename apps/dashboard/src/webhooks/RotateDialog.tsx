/** The dialog that rotates the signing secret, with an overlap in which both secrets sign (contract §5). */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { RotatedSecret } from "@wac/client/internal"
import { useState } from "react"
import { api } from "../session/Service.ts"
import { Button } from "../ui/Button.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Choices } from "../ui/Field.tsx"
import { t } from "../ui/Language.ts"
import { Notice } from "../ui/Notice.tsx"

export const RotateDialog = (
  { onClose, onRotated }: {
    readonly onClose: () => void
    readonly onRotated: (secret: Required<RotatedSecret>) => void
  }
) => {
  const client = useQueryClient()
  const [overlap, setOverlap] = useState("86400")
  const rotate = useMutation({
    mutationFn: () => api.webhook.rotateSecret({ overlapSeconds: Number(overlap) }),
    onSuccess: ({ previousExpiresAt, signingSecret }) => {
      if (signingSecret !== undefined) onRotated({ previousExpiresAt, signingSecret })
    },
    onSettled: () => void client.invalidateQueries()
  })
  return (
    <Dialog title={t("Rotate the signing secret")} isDismissible={!rotate.isPending} onClose={onClose}>
      <div className="space-y-5">
        <p>
          {t(
            "A new secret is made and shown once. During the overlap each delivery is signed with both secrets, so that your receiver can change from one to the other without refusing a delivery."
          )}
        </p>
        <Choices
          label={t("The old secret ends")}
          value={overlap}
          onChange={setOverlap}
          choices={[
            ["86400", t("In 24 hours")],
            ["604800", t("In 7 days")],
            ["0", t("Immediately: receivers that still use it refuse every delivery")]
          ]}
        />
        <Failure error={rotate.error} />
        {rotate.data !== undefined && rotate.data.signingSecret === undefined
          ? (
            <Notice tone="warn" role="alert">
              {t("The secret was rotated, but the response that shows it was lost. Rotate again for another.")}
            </Notice>
          )
          : null}
        <div className="flex flex-wrap justify-end gap-2">
          <Button isPending={rotate.isPending} onClick={onClose}>{t("Cancel")}</Button>
          <Button look="primary" isPending={rotate.isPending} onClick={() => rotate.mutate()}>
            {t("Rotate secret")}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
