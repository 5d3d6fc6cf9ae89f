/** The PostgreSQL schemas of a deployment. */
export const schemasOf = (namespace: string) => ({
  tables: namespace,
  blobs: `${namespace}_blobs`,
  leases: `${namespace}_leases`,
  models: `${namespace}_models`,
  positions: `${namespace}_positions`,
  proof: `${namespace}_proof`,
})
