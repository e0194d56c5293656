"""PH4xx to PH9xx, PR3xx to PR6xx: passes, resources, launch, target, toolchain."""

BACKEND: dict[str, str] = {
    "PH401": "not supported yet",
    "PH402": "nothing in the kernel can be pipelined",
    "PH501": "shared memory exceeded",
    "PH502": "tile too large for the threads",
    "PH503": "unknown constant",
    "PH601": "unknown target",
    "PH602": "the target cannot do this",
    "PH603": "linking failed",
    "PH901": "internal compiler error",
    "PR303": "loop split",
    "PR304": "loop not split",
    "PR401": "access width limited",
    "PR402": "loop pipelined",
    "PR403": "loop not pipelined",
    "PR404": "resident blocks chosen",
    "PR501": "grid cannot be inferred",
    "PR502": "order of blocks chosen",
}
