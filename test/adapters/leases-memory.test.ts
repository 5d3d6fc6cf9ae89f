import { MemoryLeases } from '../../adapters/memory/leases.ts'
import { leasesContract } from '../contracts/leases.ts'

let now = 0

leasesContract({
  open: async () => new MemoryLeases({ now: () => now }),
  advance: async (ms) => {
    now += ms
  },
})
