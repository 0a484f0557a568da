/** The dialog that revokes an API key, after a confirmation. */
import { api } from "../session/Service.ts"
import { Confirm } from "../ui/Dialog.tsx"
import { rich, t } from "../ui/Language.ts"
import { Time } from "../ui/Time.tsx"

export const RevokeKey = (
  { apiKey, onClose }: {
    readonly apiKey: { readonly id: string; readonly name: string; readonly lastUsedAt: string | null }
    readonly onClose: () => void
  }
) => (
  <Confirm
    title={t("Revoke “{name}”?", { name: apiKey.name })}
    action={t("Revoke key")}
    act={() => api.apiKeys.revoke(apiKey.id)}
    onClose={onClose}
  >
    {t("Every request with this key is refused within 2 seconds. This cannot be undone.")} {apiKey.lastUsedAt === null
      ? t("It was never used.")
      : rich("It was last used {time}.", { time: <Time at={apiKey.lastUsedAt} /> })}
  </Confirm>
)
