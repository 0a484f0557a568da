/** The names of the roles in the reader's language. */
import type { Role } from "@wac/client/internal"
import { t } from "../ui/Language.ts"

/** The name of a role, as it stands within a sentence. */
export const roleInWords = (role: Role): string =>
  ({
    member: t("member"),
    developer: t("developer"),
    admin: t("admin"),
    owner: t("owner")
  } satisfies Record<Role, string>)[role]
