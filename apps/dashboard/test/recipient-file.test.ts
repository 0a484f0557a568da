/**
 * What the form reads of a file of customers before it is uploaded.
 */
import { assert, describe, it } from "@effect/vitest"
import { headOf, phoneColumnOf } from "../src/campaigns/RecipientFile.ts"

describe("the column that is taken for the phone numbers", () => {
  const chosen = (...columns: ReadonlyArray<string>) => phoneColumnOf({ columns, examples: [], summary: undefined })

  it.each([
    [["Phone", "to"], "to"],
    [["Name", "TO"], "TO"],
    [["Customer number", "Name", "Phone"], "Phone"],
    [["Number of orders", "phone_number"], "phone_number"],
    [["Order number", "Mobile"], "Mobile"],
    [["Kundennummer", "Telefonnummer"], "Telefonnummer"],
    [["Nombre", "Teléfono"], "Teléfono"],
    [["Nombre", "Móvil".normalize("NFD")], "Móvil".normalize("NFD")],
    [["Nome", "Telemóvel"], "Telemóvel"],
    [["Nome", "Celular"], "Celular"],
    [["Name", "Handy"], "Handy"],
    [["WhatsApp", "Name"], "WhatsApp"],
    [["Automobile", "Miscellaneous", "Cell"], "Cell"],
    [["Name", "Number"], "Number"],
    [["Name", "Contact number"], "Contact number"]
  ])("the one of %j is %s", (columns, expected) => assert.strictEqual(chosen(...columns), expected))

  it.each([
    [["Order number", "Contact number"]],
    [["Customer number", "Name"]],
    [["Account numbers", "Name"]],
    [["Name", "InvoiceNumber"]],
    [["Name", "Membership number"]],
    [["Name", "house_number"]],
    [["Name", "City"]]
  ])("a person chooses it of %j", (columns) => assert.strictEqual(chosen(...columns), undefined))
})

it("a cell that keeps a spreadsheet from reading a number is read as the service reads it, in the names too", async () => {
  const head = await headOf(new File([`="Phone",Order\n="+15551230001","=""0042"""\n`], "customers.csv"))
  assert.deepStrictEqual(head.columns, ["Phone", "Order"])
  assert.deepStrictEqual(head.examples, [{ Phone: "+15551230001", Order: "0042" }])
})
