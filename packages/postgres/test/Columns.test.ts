import type { Id, Time } from "@wac/core"
import { describe, expect, it } from "vitest"
import { columns, inJson, list, result } from "../src/Columns.ts"
import { filteredPages } from "../src/Pages.ts"
import { texts } from "../src/Parameter.ts"
import { ifGiven, statement, value, variants } from "../src/Statement.ts"
import { insertOne } from "../src/TableStatements.ts"

interface Item {
  readonly id: Id.MessageId
  readonly workspaceId: Id.WorkspaceId
  readonly from: string
  readonly count: number
  readonly sentAt: Time.Instant | null
  readonly isHeld: boolean
  readonly content: { readonly text: string } | null
}

const item = columns<Item, { from: "from_number" }>({
  id: "text",
  workspaceId: "text",
  from: "text",
  count: "integer",
  sentAt: "bigint",
  isHeld: "boolean",
  content: "json"
}, { from: "from_number" })

const small = columns<Pick<Item, "id" | "count">>({ id: "text", count: "integer" })

const one: Item = {
  id: "msg_1" as Id.MessageId,
  workspaceId: "ws_1" as Id.WorkspaceId,
  from: "+1",
  count: 2,
  sentAt: null,
  isHeld: true,
  content: { text: "Hello" }
}

const row = {
  id: "msg_1",
  workspace_id: "ws_1",
  from_number: "+1",
  count: 2,
  sent_at: null,
  is_held: true,
  content: { text: "Hello" }
}

describe("a described row", () => {
  it("a described row is read as its record, and a bigint as a number", () => {
    expect(item.read(row)).toStrictEqual(one)
    expect(item.read({ ...row, sent_at: 5n }).sentAt).toBe(5)
  })

  it("a row without one of its columns is not read", () => {
    const { is_held: _, ...others } = row
    expect(() => item.read(others)).toThrow("the row has no column is_held")
  })

  it("described rows are read in results, alone and in arrays", () => {
    const found = result<{ readonly item: Item | null; readonly others: ReadonlyArray<Item>; readonly total: number }>({
      item,
      others: [item],
      total: "integer"
    })
    expect(found.read({ item: row, others: [row], total: 3 })).toStrictEqual({ item: one, others: [one], total: 3 })
    expect(found.read({ item: null, others: [], total: 0 })).toStrictEqual({ item: null, others: [], total: 0 })
  })

  it("a described row has one list of columns for every statement", () => {
    expect(small.names("t")).toBe("t.id, t.count")
    expect(item.pick("id", "from").names()).toBe("id, from_number")
    expect(item.omit("content", "count", "isHeld", "sentAt").names()).toBe("id, workspace_id, from_number")
    expect(small.and(item.pick("from")).set("g", "id")).toBe("count = g.count, from_number = g.from_number")
  })
})

describe("a description", () => {
  it("a description has each column once", () => {
    expect(() => small.and(item.pick("count"))).toThrow("two fields have the column count")
  })
})

describe("a statement", () => {
  const write = statement(
    { workspaceId: value<Id.WorkspaceId>(), ids: list<Id.MessageId>("text"), items: small, last: small.one },
    ({ ids, items, last, workspaceId }) =>
      `${workspaceId} ${ids} ${items("g")} ${items("g", "place")} ${last.id} ${last.count} ${workspaceId}`
  )

  it("a statement refers to its parameters by name, and its text is the same for all values", () => {
    const columns = "unnest($3::text[], $4::integer[])"
    expect(write.text).toBe(
      `$1 $2::text[] ${columns} g (id, count) ${columns} with ordinality g (id, count, place) $5::text $6::integer $1`
    )
    const { params, text } = write({ workspaceId: one.workspaceId, ids: [], items: [one], last: one })
    expect(text).toBe(write.text)
    expect(params).toHaveLength(6)
    expect([params[0], params[4], params[5]]).toStrictEqual(["ws_1", "msg_1", 2])
  })

  it("a statement does not take a table with a column of arrays", () => {
    const scoped = columns<{ readonly scopes: ReadonlyArray<string> }>({ scopes: "text[]" })
    expect(() => statement({ scoped }, ({ scoped }) => scoped("s"))).toThrow("cannot have a column of arrays")
    expect(statement({ scoped: scoped.one }, ({ scoped }) => scoped.scopes)({ scoped: { scopes: ["a"] } }))
      .toStrictEqual({ text: "$1::text[]", params: [texts(["a"])] })
    const inOne = statement(
      { all: inJson<ReadonlyArray<{ readonly scopes: ReadonlyArray<string> }>>() },
      ({ all }) => all
    )
    expect(inOne({ all: [{ scopes: ["a"] }] })).toStrictEqual({
      text: "$1::text::json",
      params: [`[{"scopes":["a"]}]`]
    })
  })
})

describe("a statement with inputs that may be left out", () => {
  const write = () => {
    const texts: Array<string> = []
    const find = variants(
      { workspaceId: value<Id.WorkspaceId>(), limit: value<number>() },
      { items: small, id: value<Id.MessageId>(), isHeld: value<boolean>() },
      ({ limit, workspaceId }, { id, isHeld, items }) => {
        const text = `${workspaceId}${ifGiven(id, (id) => ` id ${id}`)}${ifGiven(isHeld, (held) => ` held ${held}`)}${
          items === undefined ? "" : ` ${items("g")}`
        } ${limit}`
        texts.push(text)
        return text
      }
    )
    return { find, texts }
  }
  const given = { workspaceId: one.workspaceId, limit: 5 }
  const none = { id: undefined, isHeld: undefined, items: undefined }

  it("a statement has the parameters of the inputs that are given, each under its name", () => {
    const { find } = write()
    expect(find(given, none)).toStrictEqual({ text: "$1 $2", params: ["ws_1", 5] })
    expect(find(given, { ...none, isHeld: false })).toStrictEqual({ text: "$1 held $3 $2", params: ["ws_1", 5, false] })
    const { params, text } = find(given, { isHeld: true, id: one.id, items: [one] })
    expect(text).toBe("$1 id $5 held $6 unnest($3::text[], $4::integer[]) g (id, count) $2")
    expect([params[0], params[1], params[4], params[5]]).toStrictEqual(["ws_1", 5, "msg_1", true])
  })

  it("a statement has one text for each choice of inputs, which is written once", () => {
    const { find, texts } = write()
    expect(texts).toHaveLength(1)
    for (const id of [one.id, "msg_2" as Id.MessageId]) {
      find(given, none)
      find(given, { ...none, id })
      find(given, { ...none, id, isHeld: id === one.id })
    }
    expect(texts).toStrictEqual(["$1 $2", "$1 id $3 $2", "$1 id $3 held $4 $2"])
  })

  it("each field of a record can be an input that may be left out", () => {
    const set = variants({}, small.each, (_, changed) => JSON.stringify(changed))
    expect(set({}, { id: undefined, count: 2 })).toStrictEqual({ text: `{"count":"$1::integer"}`, params: [2] })
  })

  it("a page has the filters that are given, and begins after an identifier if there is one", () => {
    const page = filteredPages(
      { workspaceId: value<Id.WorkspaceId>() },
      { count: value<number>() },
      ({ workspaceId }, { count }, { isAfter, limit }) =>
        `${workspaceId} ${isAfter("id")}${ifGiven(count, (count) => ` count ${count}`)} limit ${limit}`
    )
    const workspace = { workspaceId: one.workspaceId }
    expect(page(workspace, { count: undefined }, { after: null, limit: 5 }))
      .toStrictEqual({ text: "$1 true limit $2", params: ["ws_1", 6] })
    expect(page(workspace, { count: 7 }, { after: one.id, limit: 5 }))
      .toStrictEqual({ text: "$1 id < $3 count $4 limit $2", params: ["ws_1", 6, "msg_1", 7] })
  })
})

describe("an expression for each column", () => {
  it("stands in the order of the columns, whatever the order in which it is given", () => {
    expect(small.values({ count: "1", id: "a.id" })).toBe("a.id, 1")
    expect(insertOne(small, "wac.items", " on conflict do nothing")({ id: one.id, count: 2 })).toStrictEqual({
      text: "insert into wac.items (id, count) values ($1::text, $2::integer) on conflict do nothing",
      params: ["msg_1", 2]
    })
  })
})

/** What is only compiled: the check of types fails for each expected error that is none. */
const compiled = (_: () => unknown) => () => {}

describe("what does not compile", () => {
  it(
    "a description without one of the fields, or with another one",
    compiled(() => {
      // @ts-expect-error `count` is missing
      columns<Pick<Item, "id" | "count">>({ id: "text" })
      // @ts-expect-error `total` is no field
      columns<Pick<Item, "id" | "count">>({ id: "text", count: "integer", total: "integer" })
      // @ts-expect-error `total` is missing
      result<{ readonly item: Item; readonly total: number }>({ item })
      // @ts-expect-error `from` is not read
      const read: Pick<Item, "id" | "from"> = small.read({ id: "msg_1", count: 1 })
      return read
    })
  )

  it(
    "a column of another type",
    compiled(() => {
      // @ts-expect-error a number is no text
      columns<Pick<Item, "count">>({ count: "text" })
      // @ts-expect-error a text is no number
      columns<Pick<Item, "id">>({ id: "bigint" })
      // @ts-expect-error JSON is no text
      columns<Pick<Item, "content">>({ content: "text" })
      // @ts-expect-error a column is never undefined
      columns<{ readonly at?: Time.Instant }>({ at: "bigint" })
      // @ts-expect-error a list of numbers
      list<Id.MessageId>("integer")
      // @ts-expect-error the records of another row
      result<{ readonly item: Item }>({ item: small })
    })
  )

  it(
    "two fields bound to each other's columns",
    compiled(() => {
      columns<Pick<Item, "id" | "from">, { id: "from"; from: "id" }>({ id: "text", from: "text" }, {
        // @ts-expect-error the column of `from`
        id: "from",
        // @ts-expect-error the column of `id`
        from: "id"
      })
      const given = statement(
        { id: value<Id.MessageId>(), workspaceId: value<Id.WorkspaceId>(), items: item.pick("id", "workspaceId") },
        ({ id }) => id
      )
      // @ts-expect-error the id of the other
      given({ id: one.workspaceId, workspaceId: one.workspaceId, items: [] })
      // @ts-expect-error the ids of each other
      given({ id: one.id, workspaceId: one.workspaceId, items: [{ id: one.workspaceId, workspaceId: one.id }] })
      // @ts-expect-error a value is missing
      given({ id: one.id, workspaceId: one.workspaceId })
      // @ts-expect-error a record lacks a field
      given({ id: one.id, workspaceId: one.workspaceId, items: [{ id: one.id }] })
      // @ts-expect-error the statement is not given `name`
      statement({ id: value<Id.MessageId>() }, ({ name }) => name)
      const filtered = variants(
        { id: value<Id.MessageId>() },
        { workspaceId: value<Id.WorkspaceId>() },
        // @ts-expect-error the input may be left out
        ({ id }, { workspaceId }): string => id < workspaceId ? id : workspaceId
      )
      // @ts-expect-error the input is neither given nor left out
      filtered({ id: one.id }, {})
      // @ts-expect-error the id of the other
      filtered({ id: one.id }, { workspaceId: one.id })
    })
  )
})
