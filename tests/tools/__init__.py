"""Programs that measure, damage, mutate and look at Mixscope; the suite leaves their tests out."""
