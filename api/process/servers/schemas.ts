/** Names of a deployment's schemas in PostgreSQL. */
export const schemasOf = (namespace: string) => ({
  tables: namespace,
  blobs: `${namespace}_blobs`,
  leases: `${namespace}_leases`,
  models: `${namespace}_models`,
})
