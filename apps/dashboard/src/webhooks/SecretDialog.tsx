/** The dialog that shows a signing secret, once. */
import { useState } from "react"
import { AskBeforeLeaving } from "../ui/AskBeforeLeaving.tsx"
import { Button } from "../ui/Button.tsx"
import { Secret } from "../ui/Copy.tsx"
import { Dialog } from "../ui/Dialog.tsx"
import { Check } from "../ui/Field.tsx"
import { rich, t } from "../ui/Language.ts"
import { Time } from "../ui/Time.tsx"

export const SecretDialog = (
  { onClose, previousExpiresAt, secret }: {
    readonly secret: string
    /** The time until which the previous secret also signs. */
    readonly previousExpiresAt?: string
    readonly onClose: () => void
  }
) => {
  const [isStored, setStored] = useState(false)
  return (
    <Dialog title={t("Store the signing secret now")} isDismissible={false} onClose={onClose}>
      {isStored ? null : <AskBeforeLeaving onLeave={onClose} />}
      <div className="space-y-4">
        <p>
          {t("Your receiver verifies deliveries with it. It is not shown again; if it is lost, rotate it.")}
          {previousExpiresAt === undefined
            ? null
            : (
              <>
                {" "}
                {rich("The secret before also signs, and ends {when}.", { when: <Time at={previousExpiresAt} /> })}
              </>
            )}
        </p>
        <Secret label={t("Signing secret")} value={secret} />
        <Check checked={isStored} onChange={setStored}>{t("I have stored it")}</Check>
        <div className="flex justify-end">
          <Button
            look="primary"
            onClick={onClose}
            refusal={isStored ? undefined : t("Store the secret, then tick the box: it is not shown again.")}
          >
            {t("Done")}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
