import { leasesContract } from '../contracts/leases.ts'
import { MemoryLeases } from '../support/leases-memory.ts'

let now = 0

leasesContract({
  open: async () => new MemoryLeases({ now: () => now }),
  advance: async (ms) => {
    now += ms
  },
})
