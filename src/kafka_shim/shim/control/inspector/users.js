// Users who can log in.

import { button, counted, field, form, input } from "./elements.js";

export const users = {
  title: "Users",
  columns: ["Name", "Principal", "Permissions", ""],
  load: ({ call }) => call("GET", "state"),
  rows: (data) => data.users.map((name) => ({
    name,
    isSuper: data.super_users.includes(`User:${name}`),
    acls: data.acls.filter((acl) => acl.principal === `User:${name}`).length,
  })),
  cells: (row) => [
    { text: row.name },
    { text: `User:${row.name}` },
    { text: row.isSuper ? "super user, may do everything" : counted(row.acls, "ACL") },
    { node: button("Remove", () => users.remove(row.name)) },
  ],
  tools(page) {
    users.remove = (name) => confirm(`Remove ${name}? The password cannot be restored.`)
      && page.act("DELETE", `users/${encodeURIComponent(name)}`, undefined, { done: `User ${name} removed` });
    return [form("new-user", "Add a user", [
      field("Name", input("name", { required: true })),
      field("Password", input("password", { required: true })),
    ], "Add, or change the password", async ({ name, password }, made) => {
      page.clearFilter();
      if (await page.act("POST", "users", { name, password }, { done: `${name} can log in` })) made.reset();
    })];
  },
  empty: "There are no users, so nobody can log in with a password.",
};
